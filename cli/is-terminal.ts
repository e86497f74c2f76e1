/** Whether a stream is a terminal. */
export function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}
