import type { FastifyReply, FastifyRequest } from 'fastify'
import { signInPath } from '../plugins/access.ts'
import type { User } from '../plugins/firewall.ts'
import type {} from '../plugins/validity.ts'
import type { Language } from '../src/entities.ts'
import { etagOf } from '../src/http/etag.ts'
import { negotiateType } from '../src/http/negotiation.ts'
import { pathOf, queryOf } from '../src/http/request.ts'
import { renderClosureNotice } from '../src/pages/closure-view.ts'
import { type Content, html, Markup } from '../src/pages/html.ts'
import { formStyle, policyWith, renderSmallPage } from '../src/pages/site-page.ts'
import { visitorWords } from '../src/pages/visitor-words.ts'
import type { Closure } from '../src/records/closure.ts'
import { renderSession, renderSignIn } from './site-view.ts'

/** What a page shows beside what every page of a site has. */
export interface SitePage {
  title: string
  /** What comes below the title. */
  main: Content
  /** The page's own style sheet. Attributes called style are blocked. */
  style?: string
  /** What clients get that prefer JSON. Default: they get the page, too. */
  data?: object
}

const negotiate = negotiateType(['text/html', 'application/json'])

/**
 * Sends a page that looks like the others of its site: with the site's name, a switch of languages, who is signed in,
 * and for admins why others do not see it. It has an ETag.
 */
export async function sendSitePage(
  request: FastifyRequest,
  reply: FastifyReply,
  { title, main, style, data }: SitePage,
): Promise<FastifyReply> {
  const { locale, user, closure, originalUrl, headers, server } = request
  const { id, name } = request.requireLicense()
  if (data !== undefined && negotiate(headers.accept) === 'application/json') {
    return sendWithTag(reply.type('application/json; charset=utf-8'), JSON.stringify(data))
  }
  const languages = await server.entities.languages.read(id)
  const ownStyle = new Markup(`${formStyle.toString()}${style ?? ''}`)
  if (style !== undefined) reply.header('content-security-policy', policyWith(ownStyle.toString()))
  const header = renderHeader({
    locale,
    user,
    closure,
    signIn: signInPath(request),
    languages,
    next: withoutLocale(originalUrl),
  })
  const page = renderSmallPage({ locale, name, title, main, header, style: ownStyle })
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

interface Header {
  locale: string
  /** The signed-in user. */
  user: User | null
  /** Why only admins see the page. Null if everybody does. */
  closure: Closure | null
  /** The address of the sign-in page. */
  signIn: string
  languages: readonly Language[]
  /** The path to show after the visitor has chosen a language. Null for the front page. */
  next: string | null
}

/** Renders what every page of a site begins with. */
export function renderHeader({ locale, user, closure, signIn, languages, next }: Header): Content {
  return [
    renderClosureNotice(closure, locale, user?.admin === true),
    user === null ? renderSignIn(signIn, locale) : renderSession(user, locale, { isSentence: false }),
    languages.length > 1 &&
      html`
      <nav aria-label="${visitorWords(locale).frontPage.languages}">
        <form method="post" action="/language">
          ${next !== null && html`<input type="hidden" name="next" value="${next}">`}
          <ul>${languages.map(({ code, name }) => {
            const current = code === locale && html` aria-current="true"`
            return html`<li><button name="language" value="${code}" lang="${code}"${current}>${name}</button></li>`
          })}</ul>
        </form>
      </nav>`,
  ]
}
