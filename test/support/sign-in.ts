import type { FastifyInstance } from 'fastify'
import { testPassword } from './records.ts'

export interface SignIn {
  host: string
  email: string
  password?: string
  remember?: boolean
  headers?: Record<string, string>
  /** The client's address, by which attempts are counted. */
  remoteAddress?: string
}

/** Signs in as a program does. @returns the Cookie header for the requests that follow */
export async function signIn(
  app: FastifyInstance,
  { host, email, password = testPassword, remember = false, headers, remoteAddress = '127.0.0.1' }: SignIn,
): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/login',
    remoteAddress,
    headers: { host, ...headers },
    payload: { email, password, remember },
  })
  if (response.statusCode !== 204) throw new Error(`Nobody was signed in: ${response.statusCode} ${response.body}`)
  return cookieOf(response)
}

/** The name and the value of the cookie that a response sets. */
export function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return setCookieOf({ headers }).replace(/;.*/, '')
}

/** The Set-Cookie header of a response, or an empty string. */
export function setCookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return String(headers['set-cookie'] ?? '')
}
