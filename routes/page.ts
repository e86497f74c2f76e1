import type { FastifyReply, FastifyRequest } from 'fastify'
import { signInPath } from '../plugins/access.ts'
import type {} from '../plugins/firewall.ts'
import type {} from '../plugins/validity.ts'
import type { Language } from '../src/entities.ts'
import { etagOf } from '../src/http/etag.ts'
import { negotiateType } from '../src/http/negotiation.ts'
import { pathOf, queryOf } from '../src/http/request.ts'
import { renderClosureNotice } from '../src/pages/closure-view.ts'
import { type Content, html, Markup } from '../src/pages/html.ts'
import { formStyle, policyWith, renderPage, renderSmallPage } from '../src/pages/site-page.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'
import { renderSession, renderSignIn } from './site-view.ts'

/** What a page shows beside what every page of a site has. */
export interface SitePage {
  /** Default: the name of the site, as on its front page, without the style of forms. */
  title?: string
  main: Content
  /** The page's own style sheet. Attributes called style are blocked. */
  style?: string
  /** What clients get that prefer JSON. Default: they get the page, too. */
  data?: object
}

const negotiate = negotiateType(['text/html', 'application/json'])

export function prefersData({ headers }: FastifyRequest): boolean {
  return negotiate(headers.accept) === 'application/json'
}

/** Sends what clients get that prefer JSON. It has an ETag. */
export function sendData(reply: FastifyReply, data: object): FastifyReply {
  return sendWithTag(reply.type('application/json; charset=utf-8'), JSON.stringify(data))
}

/**
 * Sends a page that looks like the others of its site: with the site's name, a switch of languages, who is signed in,
 * and for admins why others do not see it. It has an ETag.
 */
export async function sendSitePage(
  request: FastifyRequest,
  reply: FastifyReply,
  { title, main, style, data }: SitePage,
): Promise<FastifyReply> {
  const { locale, user, server } = request
  const { id, name } = request.requireLicense()
  if (data !== undefined && prefersData(request)) return sendData(reply, data)
  const header = renderHeader(request, await server.entities.languages.read(id))
  // A visitor's front page has no form but the switch of languages, which has a style of its own.
  const needsFormStyle = title !== undefined || user !== null
  const ownStyle = `${needsFormStyle ? formStyle.toString() : ''}${style ?? ''}`
  if (style !== undefined) reply.header('content-security-policy', policyWith(ownStyle))
  const shown = { main, header, style: ownStyle !== '' && new Markup(ownStyle) }
  const page =
    title === undefined
      ? renderPage({ ...shown, language: locale, title: name, main: html`<h1>${name}</h1>${main}` })
      : renderSmallPage({ ...shown, locale, name, title })
  return sendWithTag(reply.type('text/html; charset=utf-8'), page)
}

function sendWithTag(reply: FastifyReply, body: string): FastifyReply {
  return reply.varyOn('Accept, Cookie').etag(etagOf(body)).send(body)
}

/** The page that the visitor comes back to, in the language of the cookie. */
function withoutLocale(url: string): string {
  const path = pathOf(url)
  const rest = new URLSearchParams(queryOf(url))
  rest.delete('_locale')
  return rest.size === 0 ? path : `${path}?${rest}`
}

function renderHeader(request: FastifyRequest, languages: readonly Language[]): Content {
  const { locale, user, closure, originalUrl } = request
  return [
    renderClosureNotice(closure, locale, user?.admin === true),
    user === null ? renderSignIn(signInPath(request), locale) : renderSession(user, locale, { isSentence: false }),
    languages.length > 1 &&
      html`
      <nav aria-label="${visitorWords(locale).frontPage.languages}">
        <form method="post" action="/language">
          <input type="hidden" name="next" value="${withoutLocale(originalUrl)}">
          <ul>${languages.map(({ code, name }) => {
            const current = code === locale && html` aria-current="true"`
            return html`<li><button name="language" value="${code}" lang="${code}"${current}>${name}</button></li>`
          })}</ul>
        </form>
      </nav>`,
  ]
}
