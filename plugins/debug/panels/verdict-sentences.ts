import type { FastifyRequest } from 'fastify'
import type {} from '../../access.ts'
import type { Check, Reasons, Verdict } from '../../verdicts.ts'

type Sentence = string | ((value: string, request: FastifyRequest) => string)

const sentences: { [Name in Check]: Record<Reasons[Name], Sentence> } = {
  forwarded: {
    'no header': 'The request has no Forwarded header.',
    'headers agree': 'The Forwarded header agrees with the other forwarding headers.',
    'untrusted sender': 'The Forwarded header is ignored, since its sender is not trusted.',
  },
  host: {
    valid: (_, { domain }) => `"${domain}" is a valid host.`,
  },
  license: {
    found: (_, { domain }) => `"${domain}" has a license.`,
    none: (_, { domain }) => `The domain "${domain}" has no license, or its license has no type.`,
    'too long': 'The host is longer than any license domain.',
  },
  bearer: {
    'other scheme': 'The Authorization header has no bearer token.',
    valid: name => `The API token "${name}" is valid.`,
  },
  firewall: {
    'API token': email => `The API token belongs to ${email}.`,
    'no cookie': 'The request has no session cookie.',
    'no route': 'The path has no route, so the session cookie was not checked.',
    valid: email => `The session cookie belongs to ${email}.`,
    forged: 'The session cookie was not signed by this server for this site.',
    expired: 'The session cookie has expired.',
    'signed out': 'The user signed out of this session.',
    'password changed': 'The password has changed since the session cookie was set.',
    'user deleted': 'The user of the session cookie no longer exists.',
  },
  validity: {
    'no license': (_, { domain }) => `"${domain}" has no license.`,
    'no route': 'The path has no route, so the license was not checked.',
    open: 'The license is valid now.',
    admin: closure => `Only admins see the site: ${closure}`,
    'public route': 'The license is not valid now, but the route is public.',
  },
  locale: {
    'no license': (_, { locale }) => `${locale}, the default: the host has no license.`,
    query: (asked, { locale }) => `${locale}, from _locale "${asked}" in the query.`,
    'no choice': (_, { locale }) => `${locale}: the license has no other language.`,
    cookie: (_, { locale }) => `${locale}, from the locale cookie.`,
    'Accept-Language': (_, { locale, headers }) => `${locale}, from Accept-Language "${headers['accept-language']}".`,
    default: (_, { locale }) => `${locale}, the license's default: the request asks for none of its languages.`,
  },
  access: {
    'no route': 'The path has no route, so the license was not checked.',
    'no license needed': (_, { domain }) => `"${domain}" has no license, and the route needs none.`,
    'open license': license => `"${license}" is open to everybody.`,
    'public route': 'The route is public.',
    admin: 'Admins may enter every site.',
    member: group => `The user belongs to "${group}", a group of the license.`,
  },
  'request-checker': {
    'safe method': (_, { method }) => `${method} is a safe method.`,
    'API token': 'The request has an API token, which browsers do not send by themselves.',
    'cookie ignored': 'The route ignores cookies, so other sites gain nothing by them.',
    'no cookie': 'The request has no cookie, so it cannot act as a user.',
    'Sec-Fetch-Site': (_, { headers }) =>
      `Sec-Fetch-Site is "${headers['sec-fetch-site']}": the request comes from this site.`,
    Origin: (_, { headers }) => `Origin is "${headers.origin}": the request comes from this site.`,
    'no browser': 'The request has neither Sec-Fetch-Site nor Origin, so no browser sent it.',
  },
  'session-cookie': {
    set: 'The response sets a new one.',
    cleared: 'The response clears it.',
    fresh: 'The response leaves it unchanged: more than half of its lifetime is left.',
    'failed answer': 'The response leaves it unchanged: it is an error with another cause.',
  },
}

/** The reason for a verdict, as a sentence. */
export function sentenceOf({ check, reason, value, request }: Verdict): string {
  // A check of an application that is built on Portico has none.
  const ofCheck: Partial<Record<string, Sentence>> | undefined = sentences[check]
  // The reason for a refusal is a sentence already.
  const sentence = ofCheck?.[reason] ?? reason
  return typeof sentence === 'string' ? sentence : sentence(value, request)
}
