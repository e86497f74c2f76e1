import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../src/config.ts'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { isForwardedIgnored, objectionToForwarded } from '../src/http/forwarded.ts'
import { decodeUtf8 } from '../src/http/request.ts'
import { passed, refused } from './checks.ts'

/** Refuses requests whose forwarded headers are malformed or disagree. src/http/forwarded.ts has parsed them. */
async function forwarded(app: FastifyInstance, { trustProxy }: Pick<Config, 'trustProxy'>) {
  if (trustProxy.length === 0) return
  app.checks.set('forwarded', 'Forwarded headers')

  app.addHook('onRequest', function checkForwarded(request, _reply, done) {
    const objection = objectionToForwarded(request.raw) ?? objectionToProtocol(request.protocol)
    if (objection !== undefined) return done(refused(request, 'forwarded', new BadRequestHttpError(objection)))
    if (request.headers.forwarded === undefined) {
      return done(passed(request, 'forwarded', 'The request has no Forwarded header.'))
    }
    const isIgnored = isForwardedIgnored(request.raw)
    done(passed(request, 'forwarded', isIgnored ? ignored : agreeing))
  })
}

const ignored = 'The Forwarded header is ignored, since its sender is not trusted.'
const agreeing = 'The Forwarded header agrees with the other forwarding headers.'

function objectionToProtocol(protocol: string): string | undefined {
  if (protocol !== 'http' && protocol !== 'https') return `Invalid forwarded protocol "${decodeUtf8(protocol)}".`
}

export default fp(forwarded, { name: 'forwarded', dependencies: ['checks'], fastify: '5.x' })
