import { isUtf8 } from 'node:buffer'

/**
 * A header's value as its client wrote it, to be repeated to people: Node decodes headers as latin1, and clients send
 * UTF-8. What is not UTF-8 stays as it is. Targets need none of it: Node's parser refuses those that are not ASCII.
 */
export function decodeUtf8(text: string): string {
  // Nearly all of them are ASCII. What holds other than bytes was not decoded by Node.
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : text
}
