import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** Sends a request's head byte for byte, and reads until the connection ends. */
export async function sendBytes(address: string, head: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.write(Buffer.concat([Buffer.from(head), Buffer.from('Connection: close\r\n\r\n')]))
  return await text(socket)
}
