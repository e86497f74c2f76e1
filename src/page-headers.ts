import helmet from '@fastify/helmet'
import fastify from 'fastify'
import { styleHashes } from './page.ts'

/** What holds for a page that says nothing else: only this site's own files, and of styles within it those that are known. */
const contentSecurityPolicy = {
  useDefaults: false,
  directives: {
    'default-src': ["'self'"],
    'style-src': ["'self'", ...styleHashes],
    'img-src': ["'self'", 'data:'],
    'object-src': ["'none'"],
    'base-uri': ["'none'"],
    'form-action': ["'self'"],
    'frame-ancestors': ["'none'"]
  }
}

/**
 * The security headers of an HTML page. Those of @fastify/helmet, asked for once: its hooks would make them anew for each
 * request, also for one that is answered with no page.
 */
export const pageHeaders: Readonly<Record<string, string>> = await askHelmet()

async function askHelmet (): Promise<Record<string, string>> {
  const app = fastify()
  await app.register(helmet, {
    contentSecurityPolicy,
    xFrameOptions: { action: 'deny' },
    // A not-found message names the page of this site that led there.
    referrerPolicy: { policy: 'same-origin' },
    // Whoever ends TLS knows whether all of a domain has it: this server does not.
    strictTransportSecurity: false,
    // Of browsers that nobody has any more.
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false
  })
  app.get('/', async (_request, reply) => reply.raw.getHeaders())
  const answer = await app.inject('/')
  await app.close()
  return answer.json<Record<string, string>>()
}
