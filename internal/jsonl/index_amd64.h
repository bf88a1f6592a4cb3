// What the two ways to index have in common.
//
// Registers: SI, CX the rest of p; R13 the place of SI; DI where quotes are written, R8 where
// slashes are; R9, R10, R11, R12 and Y8, Y9, Y10 what st has; R15 the odd places.

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
