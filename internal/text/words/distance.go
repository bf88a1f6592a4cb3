package words

// Distance counts the bytes to insert, delete, change, or swap with the next one to turn a into b.
func Distance(a, b string) int {
	var older, old []int // the two rows before
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older = old
		old = row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(old[j+1]+1, row[j]+1, old[j]+cost)
			isSwapped := i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j]
			if isSwapped {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
