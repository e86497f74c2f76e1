/** Decodes percent-encoding. Returns the text unchanged if it is malformed. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
