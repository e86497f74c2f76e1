/** A text without its percent-encoding; as it is where it has one that is broken. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
