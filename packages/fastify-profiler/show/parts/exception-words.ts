/** What requests with the same exception are found by: its class and message, up to the first number. */
export function exceptionWords(exception: string): string {
  return exception.replace(/\d.*/s, '').trim()
}
