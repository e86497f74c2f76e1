import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { BadRequestHttpError } from '../src/errors/http-errors.ts'
import { nextPath } from '../src/http/next-path.ts'

const choice = Type.Object({ language: Type.String(), next: Type.Optional(Type.String()) })

/** In bytes. */
const bodyLimit = 4096
/** In seconds: a year. */
const maxAge = 365 * 24 * 60 * 60

/** POST /language: sets a cookie with the visitor's language. */
export default async function language(app: FastifyInstance) {
  const { languages } = app.entities
  await app.register(formbody, { bodyLimit })

  app.post<{ Body: Static<typeof choice> }>(
    '/language',
    { config: { crossSite: 'refused' }, bodyLimit, schema: { body: choice } },
    async function chooseLanguage(request, reply) {
      const { language, next } = request.body
      const available = await languages.read(request.requireLicense().id)
      if (!available.some(({ code }) => code === language)) {
        throw new BadRequestHttpError('This site is not available in this language.')
      }
      return reply
        .setCookie('locale', language, { path: '/', httpOnly: true, sameSite: 'lax', secure: 'auto', maxAge })
        .redirect(nextPath(next), 303)
    },
  )
}
