import { longestEmail } from '../../src/sign-in/account.ts'
import { longestPassword } from '../../src/sign-in/passwords.ts'
import { problem } from './problems.ts'

const retryAfter = {
  'Retry-After': { schema: { type: 'integer' as const }, description: 'The seconds to wait.' },
}

/** Makes the path of POST /login for the OpenAPI document, because that route is outside the API. */
export function signInPath() {
  const text = (maxLength: number) => ({ type: 'string' as const, minLength: 1, maxLength })
  return {
    '/login': {
      post: {
        tags: ['sign in'],
        operationId: 'signIn',
        summary: 'Sign in',
        description: 'Starts a session. Scripts do better with an API token, which needs no cookie.',
        security: [],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object' as const,
                required: ['email', 'password'],
                properties: {
                  email: text(longestEmail),
                  password: { ...text(longestPassword), writeOnly: true },
                  remember: {
                    type: 'boolean' as const,
                    default: false,
                    description: 'Whether the session lasts for 30 days instead of until the browser is closed.',
                  },
                },
              },
            },
          },
        },
        responses: {
          '204': {
            description: 'The session cookie is set.',
            headers: { 'Set-Cookie': { schema: { type: 'string' as const } } },
          },
          ...problem(400, 'The e-mail address or the password is missing or too long.', {
            detail: 'email is missing.',
          }),
          ...problem(401, 'The e-mail address or the password is wrong.', {
            detail: 'The e-mail address or the password is wrong.',
          }),
          ...problem(403, 'The request came from another site.', {
            detail: 'The request came from another site, so it was refused.',
          }),
          ...problem(429, 'There were too many attempts.', { detail: 'Too many attempts to sign in.' }, retryAfter),
          ...problem(
            503,
            'The database cannot be reached.',
            { detail: 'This site is temporarily unavailable.' },
            retryAfter,
          ),
        },
      },
    },
  }
}
