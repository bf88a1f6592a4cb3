package jsvalue

import (
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestDecimalsThatAreEqual(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "0.001e3", "1.000e00"},
		{"0", "-0", "0.0", "-0.00e5", "0e999999999999999999999999"},
		{"100", "1e2", "1.0E+02", "0.1e3"},
		{"1e999999999", "10e999999998", "0.1e1000000000"},
		{"-1.5e-7", "-15e-8", "-0.00000015"},
		{"1e99999999999999999999999999", "10e99999999999999999999999998", "0.1e100000000000000000000000000"},
		{"1e-99999999999999999999999999", "0.1e-99999999999999999999999998", "10e-100000000000000000000000000"},
	} {
		for _, text := range same[1:] {
			if decimalOf(text) != decimalOf(same[0]) {
				t.Errorf("%s is not %s: %+v, %+v", text, same[0], decimalOf(text), decimalOf(same[0]))
			}
		}
	}
}

func TestDecimalsThatDiffer(t *testing.T) {
	different := []string{
		"0", "1", "-1", "9007199254740993", "9007199254740992", "0.1", "0.1000000000000000055511151231257827",
		"1e999999999", "1e999999998", "1e-400", "1e-401", "10", "1e99999999999999999999", "1e99999999999999999998", "-1e99999999999999999998",
	}
	for i, a := range different {
		for _, b := range different[:i] {
			if Number(a).Equal(Number(b)) {
				t.Errorf("%s equals %s", a, b)
			}
		}
	}
}

func TestAddInt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		n := random.Int64() >> random.IntN(64)
		if random.IntN(2) == 0 {
			n = -n
		}
		text := strconv.FormatInt(n, 10)
		if random.IntN(4) == 0 {
			text += strings.Repeat("9", random.IntN(30))
		}
		add := int(int32(random.Uint32())) >> random.IntN(32)
		want, _ := new(big.Int).SetString(text, 10)
		want.Add(want, big.NewInt(int64(add)))
		if got := addInt(text, add); got != want.String() {
			t.Fatalf("%s + %d = %s, want %s", text, add, got, want)
		}
	}
}
