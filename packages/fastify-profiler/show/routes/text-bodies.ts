import type { FastifyInstance } from 'fastify'

/** Takes bodies as text, since the application's own parsers may refuse or change them. @param most in bytes */
export function takeText(app: FastifyInstance, contentType: string, most: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(contentType, { parseAs: 'string', bodyLimit: most }, (_request, body, done) => {
    done(null, body)
  })
}
