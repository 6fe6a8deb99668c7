package value

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Number reads 10, 0x10, 010 and 2#10.
func Number(text string) (int64, bool) {
	base := 0
	if b, digits, found := strings.Cut(text, "#"); found {
		n, err := strconv.Atoi(b)
		if err != nil || n < 2 || n > 36 || n <= 10 && strings.Trim(digits, "0123456789") != "" {
			return 0, false
		}
		base, text = n, digits
	}
	if base == 0 && strings.ContainsAny(text, "_oObB") {
		return 0, false // Go's own spellings
	}
	n, err := strconv.ParseInt(text, base, 64)
	return n, err == nil
}

// Truth is the number of a comparison.
func Truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Calculate computes cheap and certain results.
func Calculate(op syntax.BinAritOperator, a, b int64) (int64, bool) {
	switch op {
	case syntax.Add:
		return a + b, true
	case syntax.Sub:
		return a - b, true
	case syntax.Mul:
		return a * b, true
	case syntax.Quo:
		if b == 0 {
			return 0, false
		}
		return a / b, true
	case syntax.Rem:
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case syntax.Eql:
		return Truth(a == b), true
	case syntax.Neq:
		return Truth(a != b), true
	case syntax.Lss:
		return Truth(a < b), true
	case syntax.Leq:
		return Truth(a <= b), true
	case syntax.Gtr:
		return Truth(a > b), true
	case syntax.Geq:
		return Truth(a >= b), true
	case syntax.And:
		return a & b, true
	case syntax.Or:
		return a | b, true
	case syntax.Xor:
		return a ^ b, true
	case syntax.Shl:
		return a << (uint64(b) & 63), true
	case syntax.Shr:
		return a >> (uint64(b) & 63), true
	case syntax.Comma:
		return b, true
	default:
		return 0, false
	}
}
