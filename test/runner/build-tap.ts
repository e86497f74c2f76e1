import { execFileSync } from 'node:child_process'
import t from 'tap'

// Runs before the suite. A build that tap makes during a run comes too late for that run: each of its processes
// would load TypeScript.
if (t.pluginSignature.includes('@tapjs/typescript')) execFileSync('tap', ['build'], { stdio: 'inherit' })
