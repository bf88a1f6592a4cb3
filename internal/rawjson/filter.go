package rawjson

// Filter returns a list with only the elements that keep accepts; i is an
// element's place in the list. A removed element takes one comma and the white
// space on one side of it along, every other byte stays. Where everything is
// kept, and for what is not a list, it returns array itself.
func Filter(array []byte, keep func(i int, value []byte) bool) []byte {
	var out []byte
	i, kept := 0, 0
	lead := span{-1, -1} // what stands before the first element
	gap := 0             // where what stands before the next element begins
	dropped := false
	brackets, ok := walkArray(array, func(val span) bool {
		if lead.at < 0 {
			lead = span{skipSpace(array, 0) + 1, val.at}
			gap = lead.at
		}
		if keep(i, array[val.at:val.end:val.end]) {
			if dropped {
				if kept == 0 {
					out = append(out, array[lead.at:lead.end]...)
				} else {
					out = append(out, array[gap:val.at]...)
				}
				out = append(out, array[val.at:val.end]...)
			}
			kept++
		} else if !dropped {
			dropped = true
			out = make([]byte, 0, len(array))
			out = append(out, array[:gap]...)
		}
		gap = val.end
		i++
		return true
	})
	if !ok || !dropped {
		return array
	}
	if kept > 0 {
		return append(out, array[gap:]...)
	}
	return append(out, array[brackets.end:]...)
}
