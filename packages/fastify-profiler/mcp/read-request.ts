import { attempt, isRecord } from '../base/foreign-value.ts'
import { codes, handshakeVersions, metaNames, Refusal, statelessVersion, versions } from './mcp-versions.ts'

/** The headers that repeat what the body says; null over stdio. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>> | null

/** A request whose form and version are right. */
export interface ProtocolRequest {
  id: string | number
  method: string
  params: Record<string, unknown>
  meta: Record<string, unknown>
  /** Whether it needs no handshake. */
  isStateless: boolean
}

/** A JSON-RPC request whose form is right. */
type Message = Omit<ProtocolRequest, 'isStateless'>

/** The id of a message; undefined if it has none. */
export function idIn(message: unknown): string | number | undefined {
  const id = isRecord(message) ? message.id : undefined
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : undefined
}

/** Parses a message. @throws {Refusal} if it is no JSON */
export function parseMessage(text: string): unknown {
  const message = attempt((): unknown => JSON.parse(text), undefined)
  if (message === undefined) throw new Refusal(codes.parse, 'The message is no JSON.')
  return message
}

/** Checks a message. @returns null for a notification or a response, which have no answer @throws {Refusal} */
export function readRequest(message: unknown, headers: RequestHeaders): ProtocolRequest | null {
  if (hasNoAnswer(message)) return null
  const read = readMessage(message)
  return { ...read, isStateless: checkVersion(read, headers) }
}

/** JSON-RPC 2.0, section 4.1: a notification has no id. A response has no method. */
function hasNoAnswer(message: unknown): boolean {
  if (!isRecord(message) || message.jsonrpc !== '2.0') return false
  return 'method' in message ? !('id' in message) : 'result' in message || 'error' in message
}

function readMessage(message: unknown): Message {
  if (Array.isArray(message)) throw new Refusal(codes.request, 'Send one message at a time: there are no batches.')
  if (!isRecord(message) || message.jsonrpc !== '2.0' || typeof message.method !== 'string') {
    throw new Refusal(codes.request, 'The message is no request of JSON-RPC 2.0.')
  }
  const { method, params = {} } = message
  if (!isRecord(params)) throw new Refusal(codes.params, 'The parameters are an object.')
  const { _meta: meta = {} } = params
  if (!isRecord(meta)) throw new Refusal(codes.params, 'The parameter _meta is an object.')
  const id = idIn(message)
  if (id === undefined) throw new Refusal(codes.request, 'The id of a request is a string or a whole number.')
  return { id, method, params, meta }
}

/** Whether a request needs no handshake. @throws {Refusal} if its version is unknown, or the headers contradict it */
function checkVersion(request: Message, headers: RequestHeaders): boolean {
  const { meta } = request
  const version = meta[metaNames.version]
  const header = headers?.['mcp-protocol-version']
  const wanted = version ?? header ?? handshakeVersions[0]
  if (version !== undefined && headers !== null && header !== version) {
    throw new Refusal(codes.header, 'The header MCP-Protocol-Version is not the version in _meta.')
  }
  if (typeof wanted !== 'string') throw new Refusal(codes.params, `${metaNames.version} is text.`)
  if (!versions.includes(wanted)) {
    const data = { supported: versions, requested: wanted }
    throw new Refusal(codes.version, 'The server does not support this version of the protocol.', { data })
  }
  if (wanted !== statelessVersion) return false
  if (version === undefined || !isRecord(meta[metaNames.capabilities])) {
    throw new Refusal(codes.params, `_meta needs ${metaNames.version} and ${metaNames.capabilities}.`)
  }
  if (headers !== null) checkHeaders(request, headers)
  return true
}

function checkHeaders({ method, params }: Message, headers: NonNullable<RequestHeaders>): void {
  if (headers['mcp-method'] !== method) {
    throw new Refusal(codes.header, 'The header Mcp-Method is not the method of the request.')
  }
  if (method === 'tools/call' && decoded(headers['mcp-name']) !== params.name) {
    throw new Refusal(codes.header, 'The header Mcp-Name is not the name of the tool.')
  }
}

/** A header's value; values that no header can have are sent as Base64. */
function decoded(value: string | string[] | undefined): string {
  const text = String(value)
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(text) ?? []
  return base64 === undefined ? text : Buffer.from(base64, 'base64').toString()
}
