import type { IncomingMessage, ServerResponse } from 'node:http'

/** The answer to a request for another protocol: it is written to the connection, past the response. */
export interface Upgrade {
  /** 101 where the protocol was switched; null as long as nothing is written. */
  status: number | null
}

/** Reads the status in the first thing that is written to the connection of such a request; null for any other. */
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
        // Whatever is written after the head is the other protocol's.
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
