import { isUtf8 } from 'node:buffer'

/**
 * Decodes a header's value as UTF-8 for display, because Node decodes headers as latin1. Values that are not UTF-8 stay
 * as they are. Targets are always ASCII, because Node's parser rejects others.
 */
export function decodeUtf8(text: string): string {
  // ASCII needs no decoding. A character above 0xff means that Node did not decode the text as latin1.
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : text
}
