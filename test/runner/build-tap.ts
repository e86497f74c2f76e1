import { execFileSync } from 'node:child_process'
import t from 'tap'

// Runs before the suite. If tap built itself during a run, every process of that run would still load TypeScript.
if (t.pluginSignature.includes('@tapjs/typescript')) execFileSync('tap', ['build'], { stdio: 'inherit' })
