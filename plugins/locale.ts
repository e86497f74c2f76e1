import type {
  DoneFuncWithErrOrRes,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import fp from 'fastify-plugin'
import type {} from '@fastify/cookie'
import type { Language } from '../src/entities/language.ts'
import { languageRanges, lookupLanguage } from '../src/http/negotiation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A BCP 47 tag: the language of the license to answer in. */
    locale: string
  }
}

export interface LocaleOptions {
  /** Where the request's license has no languages, or the request no license. */
  defaultLocale: string
}

/** The first check: sets request.locale from the query, the cookie or Accept-Language, and says it in Content-Language. */
async function locale(app: FastifyInstance, { defaultLocale }: LocaleOptions) {
  const { languages } = app.entities

  app.addHook(
    'onRequest',
    function chooseLocale(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
      if (request.license === null) return done()
      const available = languages.read(request.license.id)
      if (!(available instanceof Promise)) {
        request.locale = choose(request, reply, available)
        return done()
      }
      available.then(available => {
        request.locale = choose(request, reply, available)
        done()
      }, done)
    },
  )

  app.addHook(
    'onSend',
    function stateLocale(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: DoneFuncWithErrOrRes) {
      if (!reply.hasHeader('content-language')) reply.header('content-language', request.locale)
      done(null, payload)
    },
  )

  app.decorateRequest('locale', defaultLocale)

  function choose(request: FastifyRequest, reply: FastifyReply, available: readonly Language[]): string {
    const tags = available.map(language => language.code)
    const inQuery = requested(request.query)
    const byQuery = inQuery && lookupLanguage(tags, [inQuery])
    if (byQuery) return byQuery
    if (tags.length > 1) reply.varyOn('Cookie, Accept-Language')
    const inCookie = request.cookies['locale']
    const byCookie = inCookie && lookupLanguage(tags, [inCookie])
    return (
      byCookie || lookupLanguage(tags, languageRanges(request.headers['accept-language'])) || tags[0] || defaultLocale
    )
  }
}

/** The _locale of a query, where it is given once. */
function requested(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('_locale' in query)) return undefined
  return typeof query._locale === 'string' ? query._locale : undefined
}

export default fp(locale, { name: 'locale', dependencies: ['license', 'vary', '@fastify/cookie'], fastify: '5.x' })
