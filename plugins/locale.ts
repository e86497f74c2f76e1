import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type {} from '@fastify/cookie'
import type { Config } from '../src/config.ts'
import type { Language } from '../src/entities.ts'
import { languageRanges, lookupLanguage } from '../src/http/negotiation.ts'
import { checkWith, passed, type Sentence } from './checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The license's language for the response, a BCP 47 tag. */
    locale: string
  }
  interface FastifyInstance {
    /** Sets the locale of a request that has passed no hook of the site. */
    chooseLocale: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  }
}

/**
 * Sets request.locale from the query, the cookie or Accept-Language. Sets Content-Language. The default is for requests
 * without a license, and licenses without languages.
 */
async function locale(app: FastifyInstance, { defaultLocale }: Pick<Config, 'defaultLocale'>) {
  const { languages } = app.entities
  app.checks.set('locale', 'Locale')

  app.addHook('onRequest', function chooseLocale(request, reply, done) {
    if (request.license === null) {
      return done(passed(request, 'locale', ({ locale }) => `${locale}, the default: the host has no license.`))
    }
    checkWith(request, 'locale', languages.read(request.license.id), done, available => {
      done(choose(request, reply, available))
    })
  })

  app.addHook('onSend', function stateLocale(request, reply, payload, done) {
    if (!reply.hasHeader('content-language')) reply.header('content-language', request.locale)
    done(null, payload)
  })

  app.decorateRequest('locale', defaultLocale)
  app.decorate('chooseLocale', async function chooseLocale(request: FastifyRequest, reply: FastifyReply) {
    if (request.license === null) return
    request.cookies ??= app.parseCookie(request.headers.cookie ?? '')
    choose(request, reply, await languages.read(request.license.id))
  })

  function choose(request: FastifyRequest, reply: FastifyReply, available: readonly Language[]): undefined {
    const tags = available.map(language => language.code)
    const [first = defaultLocale] = tags
    const inQuery = requested(request.query)
    const byQuery = inQuery && lookupLanguage(tags, [inQuery])
    if (byQuery) return chosen(request, byQuery, () => `${byQuery}, from _locale "${inQuery}" in the query.`)
    if (tags.length < 2) return chosen(request, first, () => `${first}: the license has no other language.`)
    reply.varyOn('Cookie, Accept-Language')
    const inCookie = request.cookies['locale']
    const byCookie = inCookie && lookupLanguage(tags, [inCookie])
    if (byCookie) return chosen(request, byCookie, () => `${byCookie}, from the locale cookie.`)
    const byHeader = lookupLanguage(tags, languageRanges(request.headers['accept-language']))
    return byHeader
      ? chosen(request, byHeader, ({ headers }) => `${byHeader}, from Accept-Language "${headers['accept-language']}".`)
      : chosen(request, first, () => `${first}, the license's default: the request asks for none of its languages.`)
  }
}

function chosen(request: FastifyRequest, locale: string, reason: Sentence): undefined {
  request.locale = locale
  return passed(request, 'locale', reason)
}

/** The _locale of a query, if it occurs once. */
function requested(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('_locale' in query)) return undefined
  return typeof query._locale === 'string' ? query._locale : undefined
}

export default fp(locale, {
  name: 'locale',
  dependencies: ['checks', 'license', 'vary', '@fastify/cookie'],
  fastify: '5.x',
})
