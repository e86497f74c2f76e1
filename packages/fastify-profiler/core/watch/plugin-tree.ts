import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type AnyFunction, isFunction, setMethod, whenThere } from '../foreign-value.ts'
import type { Location } from '../profile.ts'
import type { ApplicationStart } from './application-start.ts'
import { anonymous, nameOf, registrationSite } from './describe-function.ts'

export interface PluginNode {
  name: string
  /** Milliseconds that loading it took. */
  duration: number | null
  children: PluginNode[]
}

/**
 * Knows which plugin is running when something is registered. Fastify's pluginName does not: it is the name of the
 * encapsulation context, so the application's own hooks get the name of the plugin before them.
 */
export class PluginTree {
  readonly root: PluginNode = { name: 'application', duration: null, children: [] }
  readonly #loading = new AsyncLocalStorage<PluginNode>()
  readonly #start: ApplicationStart

  constructor(start: ApplicationStart) {
    this.#start = start
  }

  /** Watches every `register` and every onReady hook from now on, in all encapsulation contexts. */
  watch(app: FastifyInstance): void {
    this.#watchHooks(app)
    const register = app.register
    const observe = (plugin: unknown, site: Location | null) => this.#observe(plugin, site)
    setMethod(
      app,
      'register',
      function observedRegister(this: FastifyInstance, plugin: unknown, ...options: unknown[]): unknown {
        return Reflect.apply(register, this, [observe(plugin, registrationSite(observedRegister)), ...options])
      },
    )
  }

  #watchHooks(app: FastifyInstance): void {
    const addHook = app.addHook
    const observe = (hook: AnyFunction, site: Location | null) => this.#observeHook(hook, site)
    setMethod(app, 'addHook', function observedAddHook(this: FastifyInstance, name: unknown, hook: unknown): unknown {
      const isSeen = name === 'onReady' && isFunction(hook)
      return Reflect.apply(addHook, this, [name, isSeen ? observe(hook, registrationSite(observedAddHook)) : hook])
    })
  }

  /** All plugins are loaded. Each promise of a request would cost more with a second AsyncLocalStorage. */
  end(): void {
    this.#loading.disable()
  }

  /** The name of the running plugin; null for the application's own code. */
  current(): string | null {
    return this.#loading.getStore()?.name ?? null
  }

  /** A plugin may be a promise of a module, as from `import()`. */
  #observe(plugin: unknown, site: Location | null): unknown {
    return whenThere(plugin, plugin => this.#observeLoaded(plugin, site))
  }

  #observeLoaded(plugin: unknown, site: Location | null): unknown {
    if (typeof plugin === 'object' && plugin !== null && 'default' in plugin) return this.#observe(plugin.default, site)
    if (!isFunction(plugin)) return plugin
    const node: PluginNode = { name: pluginName(plugin, site), duration: null, children: [] }
    const parent = this.#loading.getStore() ?? this.root
    parent.children.push(node)
    const loading = this.#loading
    const description = { kind: 'plugin', name: node.name, location: site, parent: this.#start.current } as const
    const start = this.#start
    // A proxy keeps fastify-plugin's properties, the name and the arity.
    return new Proxy(plugin, {
      get(target, key): unknown {
        // Fastify names a plugin by its file, which it finds by comparing functions, or by the function's source.
        if (key === displayName) return Reflect.get(target, displayName) ?? fileOf(target)
        if (key === 'toString') return () => Function.prototype.toString.call(target)
        return Reflect.get(target, key)
      },
      apply(target, self, parameters: unknown[]): unknown {
        return loading.run(node, (): unknown =>
          start.run(description, { target, self, parameters, callback: 2 }, time => {
            node.duration = time
          }),
        )
      },
    })
  }

  /** An onReady hook keeps its name, arity and asyncness. */
  #observeHook(hook: AnyFunction, location: Location | null): AnyFunction {
    const start = this.#start
    const description = { kind: 'hook', name: nameOf(hook), location, parent: null } as const
    start.expectHook()
    return new Proxy(hook, {
      apply: (target, self, parameters: unknown[]): unknown =>
        start.run(description, { target, self, parameters, callback: 0 }, () => {}),
    })
  }
}

const displayName = Symbol.for('fastify.display-name')

const { cache } = createRequire(import.meta.url)

/** The file of a CommonJS module that exports a plugin; undefined if there is none. */
function fileOf(plugin: unknown): string | undefined {
  return Object.keys(cache).find(file => cache[file]?.exports === plugin)
}

/** The name that fastify-plugin or the function gives, or the line that registered it: "app.js:12". */
function pluginName(plugin: { readonly name: string }, site: Location | null): string {
  const name: unknown = Reflect.get(plugin, displayName)
  if (typeof name === 'string') return name
  // An exported arrow function is called "default".
  if (plugin.name !== '' && plugin.name !== 'default') return plugin.name
  return site === null ? anonymous : `${basename(site.file)}:${site.line}`
}
