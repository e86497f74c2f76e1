import { renderErrorPage, renderSiteErrorPage } from '../src/errors/error-page.ts'
import { pageHeaders } from '../src/pages/site-page.ts'
import type { BenchLicense } from './records.ts'

/** The answers of the other frameworks, which precompute much of what Portico computes per request. */

export const language = 'en-GB'

export const headers = {
  vary: 'Cookie, Accept-Language',
  'content-language': language,
  'cache-control': 'private, no-cache',
}

/** The content types of an error, the default first. */
export const types = ['application/problem+json', 'application/json', 'text/html', 'text/plain']

/** @param license null if the host has none, so that no language was negotiated */
export function errorHeaders(license: BenchLicense | null, type: string) {
  return {
    vary: license === null ? 'Accept' : 'Cookie, Accept-Language, Accept',
    'cache-control': 'no-store',
    'content-language': license !== null && type === 'text/html' ? language : 'en',
    'x-content-type-options': 'nosniff',
    'content-type': `${type}; charset=utf-8`,
    ...(type === 'text/html' && pageHeaders),
  }
}

export function errorBody(license: BenchLicense | null, detail: string, type: string): string {
  if (type === 'text/html') {
    if (license === null) return renderErrorPage(404, 'Not Found', detail)
    return renderSiteErrorPage(404, detail, { name: license.name, locale: language }).page
  }
  return JSON.stringify({ type: 'about:blank', title: 'Not Found', status: 404, detail })
}

export function noRoute(method: string, url: string): string {
  return `No route found for "${method} ${url}"`
}

export function noLicense(host: string): string {
  return `No license found for "${host}".`
}
