//go:build !purego

#include "textflag.h"

#define BYTES(name, v) \
	DATA name<>+0(SB)/8, $v; DATA name<>+8(SB)/8, $v; \
	DATA name<>+16(SB)/8, $v; DATA name<>+24(SB)/8, $v; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

BYTES(quote, 0x2222222222222222)
BYTES(slash, 0x5c5c5c5c5c5c5c5c)
BYTES(control, 0x1f1f1f1f1f1f1f1f)
BYTES(letterB, 0x6262626262626262)
BYTES(letterU, 0x7575757575757575)
BYTES(solidus, 0x2f2f2f2f2f2f2f2f)
BYTES(digit0, 0x3030303030303030)
BYTES(ten, 0x0909090909090909)
BYTES(lower, 0x2020202020202020)
BYTES(letterA, 0x6161616161616161)
BYTES(six, 0x0505050505050505)

// The letters that may follow a backslash, by their low halves: r (2), t (4), f (6), the
// backslash (c) and n (e). The quote and b would be in r's place: they are compared by
// themselves, and so are u and the slash, which JSON.stringify has little use for.
DATA simple<>+0(SB)/8, $0xff66ff74ff72ffff
DATA simple<>+8(SB)/8, $0xff6eff5cffffffff
DATA simple<>+16(SB)/8, $0xff66ff74ff72ffff
DATA simple<>+24(SB)/8, $0xff6eff5cffffffff
GLOBL simple<>(SB), RODATA|NOPTR, $32

#define LOAD \
	MOVQ p_base+0(FP), SI; \
	MOVQ p_len+8(FP), CX; \
	ADDQ SI, CX; \
	MOVL at+24(FP), R13; \
	MOVQ quotes+32(FP), DI; \
	MOVQ slashes+40(FP), R8; \
	MOVQ $0xaaaaaaaaaaaaaaaa, R15; \
	MOVQ st+48(FP), AX; \
	MOVQ 0(AX), R9; \
	MOVQ 8(AX), R10; \
	MOVQ 16(AX), R11; \
	MOVQ 24(AX), R12

#define SAVE \
	MOVQ st+48(FP), AX; \
	MOVQ R9, 0(AX); \
	MOVQ R10, 8(AX); \
	MOVQ R11, 16(AX); \
	MOVQ R12, 24(AX)

#define COUNT \
	SUBQ quotes+32(FP), DI; \
	SHRQ $2, DI; \
	MOVQ DI, count+56(FP)

// ESCAPED makes of the backslashes in BX which bytes are escaped, in R14: of a run of
// backslashes every second one is, and what follows an odd run. Subtracting carries through a
// run, and tells where it ends whether it began at an even place or an odd one.
#define ESCAPED \
	ANDNQ BX, R9, AX; \
	LEAQ  (AX)(AX*1), R14; \
	ORQ   R15, R14; \
	SUBQ  AX, R14; \
	XORQ  R15, R14; \
	MOVQ  R14, AX; \
	ANDQ  BX, AX; \
	ORQ   R9, BX; \
	XORQ  BX, R14; \
	SHRQ  $63, AX; \
	MOVQ  AX, R9

// RARE goes to rare if there are escaped bytes, R14, that are none of the letters in DX, or if
// hexadecimal digits are due.
#define RARE \
	ANDNQ R14, DX, DX; \
	MOVQ  DX, AX; \
	ORQ   R11, AX; \
	JNZ   rare

// INSTRINGS notes the control characters, which DX has, that are in strings: X4 has a bit from
// each quote to the next, and R10 says how the last 64 bytes left it.
#define INSTRINGS \
	VMOVQ X4, AX; \
	XORQ  R10, AX; \
	MOVQ  AX, R10; \
	SARQ  $63, R10; \
	ANDQ  AX, DX; \
	ORQ   DX, R12

// DUE looks for hexadecimal digits, which R14 has, in the four places behind each backslash u,
// whose u DX has, and leaves in R11 those of the places that are in the next 64 bytes.
#define DUE \
	LEAQ  (DX)(DX*1), AX; \
	ORQ   AX, R11; \
	ADDQ  AX, AX; \
	ORQ   AX, R11; \
	ADDQ  AX, AX; \
	ORQ   AX, R11; \
	ADDQ  AX, AX; \
	ORQ   AX, R11; \
	ANDNQ R11, R14, AX; \
	ORQ   AX, R12; \
	MOVQ  DX, R11; \
	SHRQ  $63, R11; \
	MOVQ  DX, AX; \
	SHRQ  $62, AX; \
	ORQ   AX, R11; \
	MOVQ  DX, AX; \
	SHRQ  $61, AX; \
	ORQ   AX, R11; \
	SHRQ  $60, DX; \
	ORQ   DX, R11

// MASK makes a bit of each of the 64 bytes in a and b.
#define MASK(a, b, dst, tmp) \
	VPMOVMSKB a, dst; \
	VPMOVMSKB b, tmp; \
	SHLQ      $32, tmp; \
	ORQ       tmp, dst

// PLACE writes the place of the lowest bit of BX, and takes it away.
#define PLACE(at) \
	TZCNTQ BX, AX; \
	ADDL   R13, AX; \
	MOVL   AX, at(DI); \
	BLSRQ  BX, BX

// HEX makes all ones of the bytes of src that are hexadecimal digits. It uses Y3 and Y5.
#define HEX(src, dst) \
	VPSUBB   digit0<>(SB), src, dst; \
	VPMINUB  ten<>(SB), dst, Y3; \
	VPCMPEQB dst, Y3, dst; \
	VPOR     lower<>(SB), src, Y3; \
	VPSUBB   letterA<>(SB), Y3, Y3; \
	VPMINUB  six<>(SB), Y3, Y5; \
	VPCMPEQB Y3, Y5, Y3; \
	VPOR     Y3, dst, dst

// The look-ups of Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte"
// (2021), for 32 bytes at a time.

// What the bits of the three tables mean, for a byte and the one before it:
//	0x01 a character is too short      0x02 too long
//	0x04 overlong, of three bytes      0x20 of two bytes     0x40 of four bytes
//	0x10 a surrogate                   0x08 too large        0x40 much too large
//	0x80 two continuation bytes: right in the third and fourth place only

// by the high half of the byte before
DATA first<>+0(SB)/8, $0x0202020202020202
DATA first<>+8(SB)/8, $0x4915012180808080
DATA first<>+16(SB)/8, $0x0202020202020202
DATA first<>+24(SB)/8, $0x4915012180808080
GLOBL first<>(SB), RODATA|NOPTR, $32

// by its low half
DATA second<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA second<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
DATA second<>+16(SB)/8, $0xcbcbcb8b8383a3e7
DATA second<>+24(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL second<>(SB), RODATA|NOPTR, $32

// by the high half of the byte
DATA third<>+0(SB)/8, $0x0101010101010101
DATA third<>+8(SB)/8, $0x01010101babaaee6
DATA third<>+16(SB)/8, $0x0101010101010101
DATA third<>+24(SB)/8, $0x01010101babaaee6
GLOBL third<>(SB), RODATA|NOPTR, $32

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

// a byte of 0xe0 or more is still 0x80 or more without this, and one of 0xf0
DATA three<>+0(SB)/8, $0x6060606060606060
DATA three<>+8(SB)/8, $0x6060606060606060
DATA three<>+16(SB)/8, $0x6060606060606060
DATA three<>+24(SB)/8, $0x6060606060606060
GLOBL three<>(SB), RODATA|NOPTR, $32
DATA four<>+0(SB)/8, $0x7070707070707070
DATA four<>+8(SB)/8, $0x7070707070707070
DATA four<>+16(SB)/8, $0x7070707070707070
DATA four<>+24(SB)/8, $0x7070707070707070
GLOBL four<>(SB), RODATA|NOPTR, $32
DATA tops<>+0(SB)/8, $0x8080808080808080
DATA tops<>+8(SB)/8, $0x8080808080808080
DATA tops<>+16(SB)/8, $0x8080808080808080
DATA tops<>+24(SB)/8, $0x8080808080808080
GLOBL tops<>(SB), RODATA|NOPTR, $32

// the largest bytes that need no other behind them, in the last three places
DATA whole<>+0(SB)/8, $0xffffffffffffffff
DATA whole<>+8(SB)/8, $0xffffffffffffffff
DATA whole<>+16(SB)/8, $0xffffffffffffffff
DATA whole<>+24(SB)/8, $0xbfdfefffffffffff
GLOBL whole<>(SB), RODATA|NOPTR, $32

// UTF8 checks 32 bytes in cur. In Y8 are the 32 before them, in Y9 comes what is wrong, and
// in Y10 what is not 0 where cur ends within a character. It uses Y4 to Y7.
#define UTF8(cur) \
	VPERM2I128 $0x21, cur, Y8, Y4; \ // the last 16 bytes before, the first 16
	VPALIGNR   $15, Y4, cur, Y5; \ // for every byte the one before it
	VPSRLW     $4, Y5, Y6; \
	VPAND      nibbles<>(SB), Y6, Y6; \
	VPAND      nibbles<>(SB), Y5, Y5; \
	VMOVDQU    first<>(SB), Y7; \
	VPSHUFB    Y6, Y7, Y6; \
	VMOVDQU    second<>(SB), Y7; \
	VPSHUFB    Y5, Y7, Y5; \
	VPAND      Y5, Y6, Y5; \
	VPSRLW     $4, cur, Y6; \
	VPAND      nibbles<>(SB), Y6, Y6; \
	VMOVDQU    third<>(SB), Y7; \
	VPSHUFB    Y6, Y7, Y6; \
	VPAND      Y6, Y5, Y5; \ // bits that all three tables have
	VPALIGNR   $14, Y4, cur, Y6; \ // the byte two before: one of three or more
	VPALIGNR   $13, Y4, cur, Y7; \ // three before: one of four
	VPSUBUSB   three<>(SB), Y6, Y6; \
	VPSUBUSB   four<>(SB), Y7, Y7; \
	VPOR       Y6, Y7, Y6; \
	VPAND      tops<>(SB), Y6, Y6; \ // where two continuation bytes must be
	VPXOR      Y5, Y6, Y5; \
	VPOR       Y5, Y9, Y9; \
	VPSUBUSB   whole<>(SB), cur, Y10; \
	VMOVDQA    cur, Y8

// func indexWide(p []byte, at uint32, quotes *uint32, slashes *uint64, st *indexState) (count int)
//
// Registers: SI, CX the rest of p; R13 the place of SI; DI where quotes are written, R8 where
// slashes are; R9, R10, R11, R12 and Y8, Y9, Y10 what st has; R15 the odd places;
// Y11 to Y15 constants.
TEXT ·indexWide(SB), NOSPLIT, $0-64
	LOAD
	VMOVDQU 32(AX), Y8
	VMOVDQU 64(AX), Y10
	VPXOR   Y9, Y9, Y9
	VMOVDQU letterB<>(SB), Y11
	VMOVDQU simple<>(SB), Y12
	VMOVDQU control<>(SB), Y13
	VMOVDQU slash<>(SB), Y14
	VMOVDQU quote<>(SB), Y15

step:
	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPCMPEQB Y0, Y14, Y2
	VPCMPEQB Y1, Y14, Y3
	MASK(Y2, Y3, BX, AX) // backslashes
	MOVQ     BX, (R8)
	ADDQ     $8, R8
	VPCMPEQB Y0, Y15, Y2
	VPCMPEQB Y1, Y15, Y3
	MASK(Y2, Y3, DX, AX) // quotes

	ESCAPED

	ANDNQ      DX, R14, BX // the quotes that begin and end strings
	VMOVQ      BX, X4
	VPCMPEQB   X5, X5, X5
	VPCLMULQDQ $0, X5, X4, X4 // a bit from each of them to the next: in a string

	VPSHUFB  Y0, Y12, Y2
	VPCMPEQB Y0, Y2, Y2
	VPCMPEQB Y0, Y11, Y3
	VPOR     Y2, Y3, Y2
	VPSHUFB  Y1, Y12, Y3
	VPCMPEQB Y1, Y3, Y3
	VPCMPEQB Y1, Y11, Y5
	VPOR     Y3, Y5, Y3
	VPMOVMSKB Y2, AX
	ORQ      AX, DX
	VPMOVMSKB Y3, AX
	SHLQ     $32, AX
	ORQ      AX, DX      // all that may follow a backslash, but u and the slash
	RARE

control:
	VPMINUB  Y0, Y13, Y2
	VPCMPEQB Y0, Y2, Y2
	VPMINUB  Y1, Y13, Y3
	VPCMPEQB Y1, Y3, Y3
	MASK(Y2, Y3, DX, AX)
	INSTRINGS

	// Four places are written whether there are so many or not, which spares a turn that
	// cannot be foreseen: the next ones are written over what is too much.
	POPCNTQ BX, DX
	PLACE(0)
	PLACE(4)
	PLACE(8)
	PLACE(12)
	CMPQ    DX, $4
	JA      more

placed:
	LEAQ (DI)(DX*4), DI
	ADDQ $64, R13

	VPOR      Y0, Y1, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNZ       beyond
	VPOR      Y10, Y9, Y9 // ASCII: nothing may be cut
	VPXOR     Y10, Y10, Y10
	VPXOR     Y8, Y8, Y8

next:
	ADDQ $64, SI
	CMPQ SI, CX
	JB   step

	VPTEST Y9, Y9
	JEQ    end
	ORQ    $1, R12

end:
	SAVE
	VMOVDQU Y8, 32(AX)
	VMOVDQU Y10, 64(AX)
	COUNT
	VZEROUPPER
	RET

more: // than four; BX has the rest
	PLACE(16)
	PLACE(20)
	PLACE(24)
	PLACE(28)
	CMPQ DX, $8
	JBE  placed
	LEAQ 32(DI), R14

many:
	TZCNTQ BX, AX
	ADDL   R13, AX
	MOVL   AX, (R14)
	ADDQ   $4, R14
	BLSRQ  BX, BX
	JNZ    many
	JMP    placed

beyond: // ASCII
	UTF8(Y0)
	UTF8(Y1)
	JMP  next

rare: // DX has the escaped letters that are none of the simple ones, R11 where digits are due
	MOVQ     st+48(FP), AX
	MOVQ     $1, 96(AX)
	VPCMPEQB solidus<>(SB), Y0, Y2
	VPCMPEQB solidus<>(SB), Y1, Y3
	MASK(Y2, Y3, R14, AX)
	ANDNQ    DX, R14, DX
	VPCMPEQB letterU<>(SB), Y0, Y2
	VPCMPEQB letterU<>(SB), Y1, Y3
	MASK(Y2, Y3, R14, AX)
	ANDNQ    DX, R14, AX // not u: wrong
	ORQ      AX, R12
	ANDQ     R14, DX     // backslash u
	HEX(Y0, Y2)
	VPMOVMSKB Y2, R14
	HEX(Y1, Y2)
	VPMOVMSKB Y2, AX
	SHLQ     $32, AX
	ORQ      AX, R14     // hexadecimal digits
	DUE
	JMP      control
