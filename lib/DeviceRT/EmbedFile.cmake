# cmake -DINPUT=file -DOUTPUT=file.c -DNAME=name -P EmbedFile.cmake
# Writes `const unsigned char name[]` and `const unsigned long name_size`.
file(READ ${INPUT} content HEX)
string(LENGTH "${content}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" content "${content}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," content "${content}")
file(WRITE ${OUTPUT} "extern const unsigned char ${NAME}[];
extern const unsigned long ${NAME}_size;
const unsigned long ${NAME}_size = ${size};
const unsigned char ${NAME}[] __attribute__((aligned(8))) = {
${content}};
")
