import type { IncomingMessage, ServerResponse } from 'node:http'

/** The response to an upgrade request. It is written to the socket, past Node's response. */
export interface Upgrade {
  /** 101 if the protocol was switched; null until something is written. */
  status: number | null
}

/** Reads the status from the first write to an upgrade request's socket. @returns null for any other request */
export function watchUpgrade({ headers }: IncomingMessage, { socket }: ServerResponse): Upgrade | null {
  if (headers.upgrade === undefined || socket === null) return null
  const upgrade: Upgrade = { status: null }
  const inherited: PropertyDescriptorMap = {}
  for (const name of ['write', 'end'] as const) {
    const method = socket[name]
    inherited[name] = Object.getOwnPropertyDescriptor(socket, name) ?? {
      value: method,
      configurable: true,
      writable: true,
    }
    Object.defineProperty(socket, name, {
      configurable: true,
      writable: true,
      value(...args: unknown[]): unknown {
        // Later writes belong to the other protocol.
        Object.defineProperties(socket, inherited)
        upgrade.status ??= statusIn(args[0])
        return Reflect.apply(method, socket, args)
      },
    })
  }
  return upgrade
}

function statusIn(head: unknown): number | null {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(typeof head === 'string' ? head : '') ?? []
  return status === undefined ? null : Number(status)
}
