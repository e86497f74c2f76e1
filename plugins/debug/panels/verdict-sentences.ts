import type { FastifyRequest } from 'fastify'
import type {} from '../../access.ts'
import type { Check, Reasons, Verdict } from '../../verdicts.ts'

type Sentence = string | ((value: string, request: FastifyRequest) => string)

const sentences: { [Name in Check]: Record<Reasons[Name], Sentence> } = {
  forwarded: {
    'no header': 'The request has no Forwarded header.',
    'headers agree': 'The Forwarded header agrees with the others.',
    'untrusted sender': 'The Forwarded header is ignored: its sender is not trusted.',
  },
  host: {
    valid: (_, { domain }) => `"${domain}" is a valid host.`,
  },
  firewall: {
    'no cookie': 'The request carries no session cookie.',
    'no route': 'The path has no route: nobody asks whose session cookie it is.',
    valid: email => `The session cookie is that of ${email}.`,
    forged: 'The session cookie is not one that this server signed for this site.',
    expired: 'The session cookie is out of date.',
    'signed out': "The session cookie's session was ended by signing out.",
    'password changed': 'The password was changed since the session cookie was set.',
    'user deleted': 'The user of the session cookie is gone.',
  },
  locale: {
    'no license': (_, { locale }) => `${locale}, the default: there is no license with languages of its own.`,
    query: (asked, { locale }) => `${locale}, by _locale "${asked}" of the query.`,
    'no choice': (_, { locale }) => `${locale}: the license leaves no choice.`,
    cookie: (_, { locale }) => `${locale}, by the locale cookie.`,
    'Accept-Language': (_, { locale, headers }) => `${locale}, by Accept-Language "${headers['accept-language']}".`,
    default: (_, { locale }) => `${locale}, the license's default: the request asks for none of its languages.`,
  },
  access: {
    'no route': 'The path has no route: it is answered as such, whatever the license.',
    'no license needed': (_, { domain }) => `"${domain}" has no license, and the route needs none.`,
    'open license': license => `"${license}" is open to everybody.`,
    'public route': 'The route answers everybody, whatever the license.',
    admin: 'An admin needs no group.',
    member: group => `The user belongs to "${group}", a group of the license.`,
  },
  'request-checker': {
    'safe method': (_, { method }) => `${method} changes nothing.`,
    'no cookie': "Without a cookie it acts in nobody's name.",
    'Sec-Fetch-Site': (_, { headers }) =>
      `Sec-Fetch-Site "${String(headers['sec-fetch-site'])}": it comes from this site.`,
    Origin: (_, { headers }) => `Origin "${headers.origin}" is this site.`,
    'no browser': "It carries neither Sec-Fetch-Site nor Origin: it is no browser's.",
  },
  'session-cookie': {
    set: 'The answer sets it anew.',
    cleared: 'The answer clears it.',
    fresh: 'The answer leaves it: it is not past half its life.',
    'failed answer': 'The answer leaves it: it is an error that has another cause.',
  },
}

/** Why a check decided as it did. */
export function sentenceOf({ check, reason, value, request }: Verdict): string {
  const ofCheck: Partial<Record<string, Sentence>> = sentences[check]
  // A request is refused with a sentence.
  const sentence = ofCheck[reason] ?? reason
  return typeof sentence === 'string' ? sentence : sentence(value, request)
}
