import type { Test } from 'tap'
import { standIn } from './stand-in-server.ts'

/**
 * Stands in for Redis: it answers every command with OK, "get" and "hget" with a value, "mget" with the first only,
 * "multi" and "exec" as Redis does. Commands with the key "fail" fail, and keys that begin with "no" are not there.
 * @returns the port
 */
export function serveRedis(t: Test): Promise<number> {
  return standIn(t, socket => {
    let received = ''
    let queued: string[] | null = null
    socket.on('data', data => {
      received += String(data)
      for (;;) {
        const command = takeCommand(received)
        if (command === null) return
        received = received.slice(command.length)
        const [name = '', first] = command.words
        // Behind the script and the number of its keys.
        const key = /^eval/i.test(name) ? command.words[3] : first
        if (name.toLowerCase() === 'multi') queued = []
        if (name.toLowerCase() === 'exec' && queued !== null) {
          socket.write(`*${queued.length}\r\n${queued.join('')}`)
          queued = null
        } else if (queued !== null && name.toLowerCase() !== 'multi') {
          queued.push(answerTo(name, key))
          socket.write('+QUEUED\r\n')
        } else {
          socket.write(answerTo(name, key))
        }
      }
    })
  })
}

function answerTo(name: string, key: string | undefined): string {
  if (key === 'fail') return '-ERR cannot do that\r\n'
  if (/^hello$/i.test(name)) return '%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n'
  if (/^info$/i.test(name)) return '$17\r\nredis_version:7.0\r\n'
  const value = key?.startsWith('no') === true ? '$-1\r\n' : '$4\r\nLisa\r\n'
  if (/^mget$/i.test(name)) return `*3\r\n${value}$-1\r\n$-1\r\n`
  return /^h?get$/i.test(name) ? value : '+OK\r\n'
}

/** The first command, a list of texts, and its length; null if it has not arrived in full. */
function takeCommand(text: string): { words: string[]; length: number } | null {
  const [head = '', count = ''] = /^\*(\d+)\r\n/.exec(text) ?? []
  if (head === '') return null
  let at = head.length
  const words: string[] = []
  for (let n = 0; n < Number(count); n++) {
    const [size = '', length = ''] = /^\$(\d+)\r\n/.exec(text.slice(at)) ?? []
    const from = at + size.length
    if (size === '' || text.length < from + Number(length) + 2) return null
    words.push(text.slice(from, from + Number(length)))
    at = from + Number(length) + 2
  }
  return { words, length: at }
}
