import type { FastifyInstance } from 'fastify'
import { testPassword } from './records.ts'

export interface SignIn {
  host: string
  email: string
  password?: string
  remember?: boolean
  headers?: Record<string, string>
  /** The client's address, by which attempts are counted. Default: one without attempts. */
  remoteAddress?: string
}

let clients = 0

/** An address that no attempt to sign in has come from. */
export function newAddress(): string {
  clients++
  return `203.0.${clients >> 8}.${clients & 255}`
}

/** Signs in as a program does. @returns the Cookie header for the requests that follow */
export async function signIn(
  app: FastifyInstance,
  { host, email, password = testPassword, remember = false, headers, remoteAddress = newAddress() }: SignIn,
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

/** Whether somebody can sign in. */
export async function canSignIn(app: FastifyInstance, how: SignIn): Promise<boolean> {
  return await signIn(app, how).then(
    () => true,
    () => false,
  )
}

/** Sends the fields of a form as a browser does. */
export async function postForm(
  app: FastifyInstance,
  url: string,
  fields: Record<string, string>,
  { headers = {}, remoteAddress = newAddress() }: { headers?: Record<string, string>; remoteAddress?: string } = {},
) {
  return await app.inject({
    method: 'POST',
    url,
    remoteAddress,
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })
}

/** The name and the value of the cookie that a response sets. */
export function cookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return setCookieOf({ headers }).replace(/;.*/, '')
}

/** The Set-Cookie header of a response, or an empty string. */
export function setCookieOf({ headers }: { headers: Record<string, unknown> }): string {
  return String(headers['set-cookie'] ?? '')
}
