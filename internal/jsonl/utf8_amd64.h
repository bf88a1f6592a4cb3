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
