/** A mistake of whoever starts the server: its message is the one line they are shown, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
