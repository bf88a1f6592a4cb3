//go:build !purego

#include "textflag.h"
#include "utf8_amd64.h"

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
