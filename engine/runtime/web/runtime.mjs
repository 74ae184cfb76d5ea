// The runtime (supple.h) in JavaScript, for browsers and Node: reduced models that step, forward and inversely.
//
//   const runtime = await Runtime.load(bytes);          // of supple.wasm
//   const model = runtime.model(bytes);                 // of `supple export --format runtime`
//   const robots = model.simulation({robots: 4});
//   robots.array("commands").set([0.01, 0.02, 0.03, 0.04]);
//   robots.step(100);
//
// All numbers are SI. Arrays are views of the runtime's own memory, with the shapes of supple.h in `shape`; ask for them
// anew after each call, since memory that grows moves them. A call that fails throws an Error with the runtime's text.

const kinds = ["actuators", "motions", "effectors", "obstacles", "probes"];
const integrators = ["implicit-euler", "implicit-euler-newton", "quasi-static", "of the model"];
const arrays = ["commands", "motions", "goals", "known", "q", "v", "forces", "applied", "contactForces", "effectors",
  "points", "goalErrors"];

/** The place of a word among those that are allowed. */
function choice(word, words, what) {
  const k = words.indexOf(word);
  if (k < 0) throw new Error(`there is no ${what} '${word}' (try: ${words.join(", ")})`);
  return k;
}

const bytesOf = (data) => (ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  : new Uint8Array(data));

export class Runtime {
  /** `bytes`: of supple.wasm, an ArrayBuffer or a typed array. */
  static async load(bytes) {
    const module = await WebAssembly.compile(bytesOf(bytes));
    // The runtime reads no files and writes no texts: calls for that fail.
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = () => {
        if (name === "proc_exit") throw new Error("the runtime stopped");
        return name.startsWith("fd_") ? 8 : 0;
      };
    }
    const instance = await WebAssembly.instantiate(module, imports);
    instance.exports._initialize?.();
    return new Runtime(instance.exports);
  }

  constructor(exports) {
    this.c = exports;
    if (exports.supple_abi_version() !== 1) throw new Error("supple.wasm is of another version than runtime.mjs");
    this.version = this.text(exports.supple_version());
  }

  /** A model from the bytes of a file of `supple export --format runtime`. */
  model(bytes) {
    const own = bytesOf(bytes), at = this.copy(own);
    const model = this.c.supple_model_read(at, own.byteLength);
    this.c.free(at);
    if (model === 0) this.fail();
    return new Model(this, model);
  }

  text(at) {
    const memory = new Uint8Array(this.c.memory.buffer);
    return new TextDecoder().decode(memory.slice(at, memory.indexOf(0, at)));
  }
  room(size) {
    const at = this.c.malloc(Math.max(size, 8));
    if (at === 0) throw new Error(`no memory for ${size} bytes (try: a smaller batch)`);
    return at;
  }
  copy(bytes) {
    const at = this.room(bytes.byteLength);
    new Uint8Array(this.c.memory.buffer).set(bytes, at);
    return at;
  }
  fail() {
    throw new Error(this.text(this.c.supple_error()));
  }
  checked(code) {
    if (code < 0) this.fail();
    return code;
  }
}

export class Model {
  constructor(runtime, handle) {
    this.runtime = runtime;
    this.handle = handle;
  }

  /** Names of its "actuators", "motions", "effectors", "obstacles" or "probes". */
  names(kind) {
    const { c } = this.runtime, k = choice(kind, kinds, "kind");
    return Array.from({ length: this.runtime.checked(c.supple_count(this.handle, k)) },
      (_, i) => this.runtime.text(c.supple_name(this.handle, k, i)));
  }
  /** Mean error of the end effectors on unseen states, a fraction of their displacement; null: not known. */
  get error() {
    const error = this.runtime.c.supple_model_error(this.handle);
    return error < 0 ? null : error;
  }
  /** A batch of robots at rest. integrator: "implicit-euler" and so on, timeStep [s]; without them the model's. */
  simulation({ robots = 1, inverse = false, integrator = "of the model", timeStep = 0 } = {}) {
    const { runtime } = this, which = choice(integrator, integrators, "integrator"), at = runtime.room(24);
    runtime.c.supple_default_settings(at);
    const settings = new DataView(runtime.c.memory.buffer, at, 24);
    settings.setInt32(4, robots, true);
    settings.setInt32(8, inverse ? 1 : 0, true);
    settings.setInt32(12, which, true);
    settings.setFloat64(16, timeStep, true);
    const simulation = runtime.c.supple_simulation_new(this.handle, at);
    runtime.c.free(at);
    if (simulation === 0) runtime.fail();
    return new Simulation(runtime, simulation);
  }
  free() {
    this.runtime.c.supple_model_free(this.handle);
    this.handle = 0;
  }
}

export class Simulation {
  constructor(runtime, handle) {
    this.runtime = runtime;
    this.handle = handle;
    this.scratch = runtime.room(32);
    this.nodes = 0;
  }

  step(count = 1) {
    if (!Number.isInteger(count) || count < 0 || count > 2 ** 31 - 1) throw new Error(`${count} is no number of steps`);
    this.runtime.checked(this.runtime.c.supple_step(this.handle, count));
  }
  /** Brings the robots to equilibrium under their commands. */
  settle() {
    this.runtime.checked(this.runtime.c.supple_settle(this.handle));
  }
  /** Puts all robots back to rest. */
  reset() {
    this.runtime.checked(this.runtime.c.supple_reset(this.handle, 0, 0));
  }
  /** Takes over the states of another simulation of the same model and number of robots. */
  copyState(from) {
    this.runtime.checked(this.runtime.c.supple_copy_state(this.handle, from.handle));
  }
  /** s */
  get time() {
    return this.runtime.c.supple_time(this.handle);
  }
  get timeStep() {
    return this.runtime.c.supple_time_step(this.handle);
  }
  /** Whether an effector has a goal; at first all have one. */
  steer(effector, steered) {
    this.runtime.checked(this.runtime.c.supple_steer(this.handle, effector, steered ? 1 : 0));
  }
  /** To set: "commands", "motions"; of an inverse simulation "goals", "known" (NaN: found). To read: "q", "v", "forces",
   * "applied", "contactForces", "effectors", "points", "goalErrors". A Float64Array with a member `shape`. */
  array(name) {
    const at = this.runtime.c.supple_get_array(this.handle, choice(name, arrays, "array"), this.scratch);
    if (at === 0) this.runtime.fail();
    const shape = Array.from(new Uint32Array(this.runtime.c.memory.buffer, this.scratch, 4));
    const view = new Float64Array(this.runtime.c.memory.buffer, at, shape.reduce((a, b) => a * b));
    view.shape = shape;
    return view;
  }
  /** Triangles of the skin, three nodes each (Int32Array). */
  triangles() {
    const { triangles } = this.skinSize(), at = this.runtime.room(12 * triangles);
    this.runtime.checked(this.runtime.c.supple_skin_triangles(this.handle, at));
    const corners = new Int32Array(this.runtime.c.memory.buffer, at, 3 * triangles).slice();
    this.runtime.c.free(at);
    return corners;
  }
  /** Nodes of the skin of a robot [m], three numbers each; until the next call. */
  skin(robot = 0) {
    const { nodes } = this.skinSize();
    this.nodes ||= this.runtime.room(24 * nodes);
    this.runtime.checked(this.runtime.c.supple_skin_nodes(this.handle, robot, this.nodes));
    return new Float64Array(this.runtime.c.memory.buffer, this.nodes, 3 * nodes);
  }
  skinSize() {
    this.runtime.checked(this.runtime.c.supple_skin_size(this.handle, this.scratch, this.scratch + 4));
    const [nodes, triangles] = new Int32Array(this.runtime.c.memory.buffer, this.scratch, 2);
    return { nodes, triangles };
  }
  free() {
    for (const at of [this.scratch, this.nodes]) this.runtime.c.free(at);
    this.runtime.c.supple_simulation_free(this.handle);
    this.handle = this.scratch = this.nodes = 0;
  }
}
