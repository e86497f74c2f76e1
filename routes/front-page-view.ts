import type { User } from '../plugins/firewall.ts'
import type { Language } from '../src/entities/language.ts'
import type { License } from '../src/entities/license.ts'
import type { Museum } from '../src/entities/museum.ts'
import { html } from '../src/html.ts'
import { formStyle, renderPage } from '../src/page.ts'
import { renderSignOut } from './login-view.ts'
import { wordsFor } from './words.ts'

export interface FrontPage {
  license: License
  locale: string
  museums: readonly Museum[]
  languages: readonly Language[]
  /** Who is signed in. */
  user: User | null
}

const english = { museums: 'Museums', languages: 'Languages', noMuseums: 'There are no museums here yet.', signOut: 'Sign out' }
const translations: Record<string, typeof english> = {
  de: { museums: 'Museen', languages: 'Sprachen', noMuseums: 'Hier gibt es noch keine Museen.', signOut: 'Abmelden' },
  fr: { museums: 'Musées', languages: 'Langues', noMuseums: 'Il n’y a pas encore de musées ici.', signOut: 'Se déconnecter' }
}

/** The front page of a licensed site, as an HTML document. */
export function renderFrontPage ({ license, locale, museums, languages, user }: FrontPage): string {
  const words = wordsFor(locale, translations, english)
  return renderPage({
    language: locale,
    title: license.name,
    style: user !== null && formStyle,
    header: [user !== null && renderSignOut(user.email, words.signOut), languages.length > 1 && html`
      <nav aria-label="${words.languages}">
        <form method="post" action="/language">
          <ul>${languages.map(({ code, name }) => html`<li><button name="language" value="${code}" lang="${code}"${code === locale && html` aria-current="true"`}>${name}</button></li>`)}</ul>
        </form>
      </nav>`],
    main: html`
      <h1>${license.name}</h1>
      <h2 id="museums">${words.museums}</h2>
      ${museums.length === 0
        ? html`<p class="quiet">${words.noMuseums}</p>`
        : html`<ul class="records" aria-labelledby="museums">${museums.map(({ name }) => html`<li>${name}</li>`)}</ul>`}`
  })
}
