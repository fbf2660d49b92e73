/* objects.c: finds clang's offload images: the section .llvm.offloading holds
 * one or more, each with a header, a table of strings and the bytes (LLVM,
 * llvm/Object/OffloadBinary.h). */
#include "objects.h"

#include "status.h"

#include <llvm-c/Core.h>
#include <llvm-c/Object.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct header {
  unsigned char magic[4];
  uint32_t version;
  uint64_t size, entry_offset, entry_size;
};
struct entry {
  uint16_t image_kind, offload_kind;
  uint32_t flags;
  uint64_t string_offset, n_strings, image_offset, image_size;
};
struct string_entry {
  uint64_t key_offset, value_offset;
};
static const unsigned char magic[4] = {0x10, 0xff, 0x10, 0xad};

struct reader {
  const char *name;
  pacc_image_visitor *visit;
  void *context;
};

static int damaged(const struct reader *reader) {
  return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                       "%s: its device code is damaged, or of another clang",
                       reader->name);
}

static int is_inside(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

/* The text at `offset` of a block, NULL if it does not end there. */
static const char *text_at(const char *block, uint64_t size, uint64_t offset) {
  return offset < size && memchr(block + offset, 0, size - offset)
             ? block + offset
             : NULL;
}

/* The value of a key, "" if there is none. */
static const char *find_string(const char *block, uint64_t size,
                               const struct entry *entry, const char *key) {
  for (uint64_t i = 0; i < entry->n_strings; i++) {
    struct string_entry s;
    uint64_t at = entry->string_offset + i * sizeof(s);
    if (!is_inside(at, sizeof(s), size))
      break;
    memcpy(&s, block + at, sizeof(s));
    const char *name = text_at(block, size, s.key_offset);
    const char *value = text_at(block, size, s.value_offset);
    if (name && value && !strcmp(name, key))
      return value;
  }
  return "";
}

static int read_images(const struct reader *reader, const char *bytes,
                       uint64_t size) {
  while (size >= sizeof(struct header)) {
    struct header header;
    struct entry entry;
    memcpy(&header, bytes, sizeof(header));
    if (memcmp(header.magic, magic, sizeof(magic)) || header.version != 1 ||
        header.size < sizeof(header) || header.size > size ||
        !is_inside(header.entry_offset, sizeof(entry), header.size))
      return damaged(reader);
    memcpy(&entry, bytes + header.entry_offset, sizeof(entry));
    if (!is_inside(entry.image_offset, entry.image_size, header.size))
      return damaged(reader);
    int status =
        reader->visit(reader->context, reader->name, entry.image_kind,
                      find_string(bytes, header.size, &entry, "arch"),
                      bytes + entry.image_offset, (size_t)entry.image_size);
    if (status)
      return status;
    uint64_t whole = (header.size + 7) & ~7ull;
    bytes += whole < size ? whole : size;
    size -= whole < size ? whole : size;
  }
  return 0;
}

/* The section of an object file; nothing of what is no object file. */
static int read_object(const struct reader *reader,
                       LLVMMemoryBufferRef buffer) {
  char *message = NULL;
  LLVMBinaryRef binary = LLVMCreateBinary(buffer, NULL, &message);
  LLVMDisposeMessage(message);
  if (!binary)
    return 0;
  int status = 0;
  LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(binary);
  while (section && !status &&
         !LLVMObjectFileIsSectionIteratorAtEnd(binary, section)) {
    const char *name = LLVMGetSectionName(section);
    if (name && !strcmp(name, ".llvm.offloading"))
      status = read_images(reader, LLVMGetSectionContents(section),
                           LLVMGetSectionSize(section));
    LLVMMoveToNextSection(section);
  }
  if (section)
    LLVMDisposeSectionIterator(section);
  LLVMDisposeBinary(binary);
  return status;
}

/* -- Archives: "!<arch>\n", then members with headers of 60 bytes -- */

static const char archive_magic[8] = {'!', '<', 'a', 'r', 'c', 'h', '>', '\n'};
enum { MEMBER_HEADER = 60, MEMBER_SIZE_AT = 48, MEMBER_SIZE_WIDTH = 10 };

static int read_archive(const struct reader *reader, const char *bytes,
                        size_t size) {
  size_t at = sizeof(archive_magic);
  while (is_inside(at, MEMBER_HEADER, size)) {
    char digits[MEMBER_SIZE_WIDTH + 1] = "";
    memcpy(digits, bytes + at + MEMBER_SIZE_AT, MEMBER_SIZE_WIDTH);
    size_t length = strtoull(digits, NULL, 10);
    at += MEMBER_HEADER;
    if (!is_inside(at, length, size))
      return damaged(reader);
    LLVMMemoryBufferRef member = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        bytes + at, length, reader->name);
    int status = read_object(reader, member);
    LLVMDisposeMemoryBuffer(member);
    if (status)
      return status;
    at += length + length % 2;
  }
  return 0;
}

int pacc_objects_read(const char *path, pacc_image_visitor *visit,
                      void *context) {
  struct reader reader = {path, visit, context};
  LLVMMemoryBufferRef buffer;
  char *message = NULL;
  if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
    int status = pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE,
                               "cannot read %s: %s", path, message);
    LLVMDisposeMessage(message);
    return status;
  }
  const char *bytes = LLVMGetBufferStart(buffer);
  size_t size = LLVMGetBufferSize(buffer);
  int status = size >= sizeof(archive_magic) &&
                       !memcmp(bytes, archive_magic, sizeof(archive_magic))
                   ? read_archive(&reader, bytes, size)
                   : read_object(&reader, buffer);
  LLVMDisposeMemoryBuffer(buffer);
  return status;
}
