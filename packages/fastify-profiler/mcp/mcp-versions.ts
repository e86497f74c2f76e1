// The Model Context Protocol in two eras. Since https://modelcontextprotocol.io/specification/2026-07-28 each request
// says what it needs. Until https://modelcontextprotocol.io/specification/2025-11-25 clients begin with a handshake.

/** The version in which requests carry their version, client and capabilities in `_meta`. */
export const statelessVersion = '2026-07-28'

/** Versions that begin with `initialize`, newest first. What is used of them is the same. */
export const handshakeVersions: readonly string[] = ['2025-11-25', '2025-06-18']

export const versions: readonly string[] = [statelessVersion, ...handshakeVersions]

/** Codes of JSON-RPC 2.0, and of the protocol since 2026-07-28. */
export const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  header: -32020,
  version: -32022,
} as const

/** Names of `_meta` in a request. */
export const metaNames = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
  /** Ours: asks for the data of an answer besides its text. */
  data: 'fastify-profiler/data',
} as const

/** A request that is refused. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: number
  /** Of the response over HTTP. */
  readonly status: number
  readonly data: unknown

  constructor(code: number, message: string, { status = 400, data }: { status?: number; data?: unknown } = {}) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
  }
}
