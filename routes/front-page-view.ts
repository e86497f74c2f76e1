import type { Language } from '../src/entities/language.ts'
import type { License } from '../src/entities/license.ts'
import type { Museum } from '../src/entities/museum.ts'
import { html } from '../src/html.ts'
import { renderPage } from '../src/page.ts'

export interface FrontPage {
  license: License
  locale: string
  museums: readonly Museum[]
  languages: readonly Language[]
}

const english = { museums: 'Museums', languages: 'Languages', noMuseums: 'There are no museums here yet.' }
const translations: Record<string, typeof english> = {
  de: { museums: 'Museen', languages: 'Sprachen', noMuseums: 'Hier gibt es noch keine Museen.' },
  fr: { museums: 'Musées', languages: 'Langues', noMuseums: 'Il n’y a pas encore de musées ici.' }
}

/** The front page of a licensed site, as an HTML document. */
export function renderFrontPage ({ license, locale, museums, languages }: FrontPage): string {
  const words = translations[locale.replace(/-.*/, '').toLowerCase()] ?? english
  return renderPage({
    language: locale,
    title: license.name,
    header: languages.length > 1 && html`
      <nav aria-label="${words.languages}">
        <ul>${languages.map(({ code, name }) => html`<li><a href="/?_locale=${code}" lang="${code}" hreflang="${code}"${code === locale && html` aria-current="true"`}>${name}</a></li>`)}</ul>
      </nav>`,
    main: html`
      <h1>${license.name}</h1>
      <h2 id="museums">${words.museums}</h2>
      ${museums.length === 0
        ? html`<p class="quiet">${words.noMuseums}</p>`
        : html`<ul class="records" aria-labelledby="museums">${museums.map(({ name }) => html`<li>${name}</li>`)}</ul>`}`
  })
}
