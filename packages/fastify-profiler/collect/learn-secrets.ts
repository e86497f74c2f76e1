import type { ProfileBounds } from '../base/bounds.ts'
import { isObject, read } from '../base/foreign-value.ts'
import type { KnownSecrets } from '../mask/known-secrets.ts'
import { RequestSecrets } from '../mask/request-secrets.ts'
import type { Exchange } from '../watch/exchange.ts'
import { recordedHttpCalls } from '../watch/recorded-http-calls.ts'
import { recordedQueries } from '../watch/recorded-queries.ts'
import { headerOf, type HeaderLines } from './header-lines.ts'

/** Learns the secrets in an exchange's headers, URL, body and parameters, and those that panels have named. */
export function learnSecrets(
  { recorder, request }: Exchange,
  headers: HeaderLines,
  standing: KnownSecrets | null,
  bounds: ProfileBounds,
): RequestSecrets {
  const secrets = new RequestSecrets(bounds, standing)
  secrets.learnFromHeaders(headers.request)
  secrets.learnFromHeaders(headers.response)
  secrets.learnFromUrl(recorder.url)
  for (const secret of recorder.secrets) secrets.add(secret)
  secrets.dropped += recorder.droppedSecrets
  // The fields of a document have names, as those of a body do.
  for (const { parameters } of recordedQueries(recorder)?.first ?? []) {
    if (parameters.some(isObject)) secrets.learnFrom(parameters)
  }
  for (const { url } of recordedHttpCalls(recorder)?.first ?? []) secrets.learnFromUrl(url)
  for (const part of ['body', 'params', 'query']) secrets.learnFrom(request === null ? null : read(request, part))
  for (const url of [recorder.url, headerOf(headers.request, 'referer') ?? '']) secrets.learnSpellings(url)
  return secrets
}
