import { execFile, spawnSync } from 'node:child_process'
import type { InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { standInService } from './drivers/stand-in-server.ts'
import { gallery } from './gallery.ts'
import { pageOf, profileOf } from './profiled-app.ts'

/** What a shell with curl sends to a server of ours. */
async function sentByShell(
  t: Test,
  command: string,
): Promise<{ url: string; method: string; headers: object; body: string }> {
  const origin = await standInService(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url, method, headers } = request
      const said = JSON.stringify({ url, method, headers, body: Buffer.concat(chunks).toString() })
      response.setHeader('x-said', encodeURIComponent(said)).end()
    })
  })
  const script = command.replaceAll('museum.test', new URL(origin).host)
  const printed = await new Promise<string>((resolve, reject) =>
    execFile('sh', ['-c', script.replace('curl', 'curl -s -i')], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    ),
  )
  return JSON.parse(decodeURIComponent(/x-said: (\S+)/i.exec(printed)?.[1] ?? ''))
}

const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'no curl'

t.test('a shell that runs the cURL command sends the same request', { skip }, async t => {
  const { app } = await gallery(t)
  const repeated = async (request: InjectOptions) => {
    const { token } = await profileOf(app, { ...request, headers: { ...request.headers, host: 'museum.test' } })
    return sentByShell(t, await pageOf(app, `${token}/curl`))
  }
  t.match(
    await repeated({ method: 'GET', url: "/echo?a[]={b}&c=it's", headers: { 'x-empty': '', 'x-it': "it's; `id`" } }),
    { method: 'GET', url: '/echo?a[]={b}&c=it%27s', headers: { 'x-empty': '', 'x-it': "it's; `id`" } },
  )
  t.match(await repeated({ method: 'HEAD', url: '/echo' }), { method: 'HEAD', url: '/echo' })
  const hostile = "'; touch /tmp/planted; $(id)\n"
  t.match(
    await repeated({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ hostile }),
    }),
    { method: 'POST', body: JSON.stringify({ hostile }) },
  )
  t.match(
    await repeated({
      method: 'POST',
      url: '/echo',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'a=b+c',
    }),
    { body: 'a=b+c' },
  )
})
