import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import parseForwarded from 'forwarded-parse'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'

export interface ForwardedOptions {
  /** Addresses of the proxies whose forwarded headers count. */
  trustProxy: string[]
}

const counterparts = [
  { parameter: 'for', counterpart: 'x-forwarded-for', normalise: addressOf },
  { parameter: 'host', counterpart: 'x-forwarded-host', normalise: lowerCase },
  { parameter: 'proto', counterpart: 'x-forwarded-proto', normalise: lowerCase }
] as const

/**
 * Reads a trusted proxy's Forwarded header (RFC 7239) as the X-Forwarded-* headers that Fastify's request.ip, .host and
 * .protocol come from. Where it sends both they have to agree.
 */
async function forwarded (app: FastifyInstance, { trustProxy }: ForwardedOptions) {
  if (trustProxy.length === 0) return
  const isTrusted = proxyAddr.compile(trustProxy)

  app.addHook('onRequest', function readForwarded (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
    const { headers, socket } = request.raw
    const objection = headers.forwarded !== undefined && isTrusted(String(socket.remoteAddress), 0) ? translate(headers, headers.forwarded) : undefined
    done(objection ?? protocolObjection(request.protocol))
  })
}

/** @returns the error, where the header is malformed or disagrees with its counterparts */
function translate (headers: IncomingMessage['headers'], forwarded: string): BadRequestHttpError | undefined {
  let hops
  try {
    hops = parseForwarded(forwarded)
  } catch (error) {
    return new BadRequestHttpError('The "Forwarded" header is malformed.', { cause: error })
  }
  for (const { parameter, counterpart, normalise } of counterparts) {
    const values = hops.map(hop => hop[parameter]).filter(value => value !== undefined).map(normalise)
    if (values.length === 0) continue
    const stated = headers[counterpart]
    if (stated === undefined) headers[counterpart] = values.join(', ')
    else if (values.join() !== String(stated).split(',').map(normalise).join()) {
      return new BadRequestHttpError(`The "Forwarded" and "${counterpart}" headers disagree.`)
    }
  }
}

function protocolObjection (protocol: string): BadRequestHttpError | undefined {
  if (protocol !== 'http' && protocol !== 'https') return new BadRequestHttpError(`Invalid forwarded protocol "${protocol}".`)
}

function lowerCase (value: string): string {
  return value.trim().toLowerCase()
}

/** The address of a node (RFC 7239, section 6): without port, and without the brackets of IPv6. */
function addressOf (node: string): string {
  const [, bracketed, bare] = /^\[([^\]]*)\](?::\w+)?$|^([^:]*):\w+$/.exec(node.trim()) ?? []
  return lowerCase(bracketed ?? bare ?? node)
}

export default fp(forwarded, { name: 'forwarded', fastify: '5.x' })
