// The page of a robot: it steps in this tab, and its end effectors are led where they are dragged to.

import { Runtime } from "./runtime.mjs";
import { Camera, Marks, MovingSurface, View, vectors } from "./view.mjs";

const element = (id) => document.getElementById(id);
const skinColour = [0.93, 0.62, 0.42, 1], solidColour = [0.58, 0.6, 0.63, 1], wallColour = [0.58, 0.6, 0.63, 0.3];
const cableColour = [0.13, 0.33, 0.55, 1], tipColour = [0.1, 0.12, 0.15, 1], goalColour = [0.83, 0.13, 0.18, 1];
const pushColour = [0.1, 0.55, 0.3, 1];
const stepsPerFrame = 8, swaySeconds = 7;

const units = {
  displacement: ["mm", 1e3], volume: ["mL", 1e6], force: ["N", 1], pressure: ["kPa", 1e-3],
};

/** Bytes of a script element: gzip in base64. */
async function unpack(id) {
  const packed = Uint8Array.from(atob(element(id).textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers of eight bytes from planes of their bytes: all first bytes, all second ones, and so on. */
function gather(planes) {
  const count = planes.length / 8, bytes = new Uint8Array(planes.length);
  for (let b = 0; b < 8; ++b) for (let i = 0; i < count; ++i) bytes[8 * i + b] = planes[b * count + i];
  return bytes;
}

class Page {
  constructor(facts, model) {
    this.facts = facts;
    this.model = model;
    this.simulation = this.forward = model.simulation();
    this.rest();
    this.inverse = null;
    if (facts.effectors.some((effector) => effector.type === "position") && facts.actuators.length > 0) {
      try {
        this.inverse = model.simulation({ inverse: true });
      } catch (error) {
        this.reason = error.message;  // of what cannot be led
      }
    }
    this.view = new View(element("view"));
    const sim = this.simulation, rest = sim.triangles() && sim.skin().slice();
    let low = [Infinity, Infinity, Infinity], high = low.map((x) => -x);
    for (let k = 0; k < rest.length; ++k) {
      low[k % 3] = Math.min(low[k % 3], rest[k]);
      high[k % 3] = Math.max(high[k % 3], rest[k]);
    }
    this.camera = new Camera(low, high);
    const size = this.camera.size;
    this.surface = new MovingSurface(rest, sim.triangles());
    this.skin = this.view.buffer(this.surface.vertices, this.surface.corner);
    this.marks = Object.fromEntries(["cables", "tips", "goals", "pushes"].map((name) => [name, this.view.buffer([], [])]));
    this.obstacles = facts.obstacles.map(({ nodes, triangles, see_through }) => {
      const surface = new MovingSurface(nodes, triangles);
      return { buffer: this.view.buffer(surface.update(nodes), surface.corner), colour: see_through ? wallColour : solidColour };
    });
    this.tips = facts.effectors.flatMap((effector, e) => (effector.type === "position" ? [e] : []));
    this.swaying = !matchMedia("(prefers-reduced-motion: reduce)").matches && !/[?&]still\b/.test(location.search);
    this.paused = false;
    this.pending = 0;
    this.spent = { steps: 0, ms: 0 };
    this.controls();
    this.pointer();
    this.texts();
  }

  controls() {
    const inputs = [...this.facts.actuators, ...this.facts.motions];
    this.sliders = inputs.map((input, i) => {
      const [unit, factor] = units[input.control];
      const row = document.createElement("label"), name = document.createElement("span"), value = document.createElement("span");
      const slider = document.createElement("input");
      row.className = "slider";
      name.textContent = input.name;
      const [low, high] = input.range ?? [0, 0];
      Object.assign(slider, { type: "range", min: low, max: high, step: "any", value: 0, disabled: !input.range });
      row.append(name, value, slider);
      element("sliders").append(row);
      const show = (x) => { value.textContent = `${(factor * x).toFixed(Math.abs(factor * high) < 10 ? 2 : 1)} ${unit}`; };
      slider.addEventListener("input", () => {
        this.take("sliders");
        const n = this.facts.actuators.length, values = this.sliders.map((s) => s.slider.valueAsNumber);
        this.forward.array("commands").set(values.slice(0, n));
        this.forward.array("motions").set(values.slice(n));
        show(slider.valueAsNumber);
      });
      return { slider, show };
    });
    element("pause").addEventListener("click", () => {
      this.paused = !this.paused;
      element("pause").textContent = this.paused ? "Go on" : "Pause";
    });
    element("reset").addEventListener("click", () => this.reset());
  }

  /** The equilibrium under no command, where there is one. */
  rest() {
    try {
      this.forward.settle();
    } catch {
      this.forward.reset();
    }
  }

  reset() {
    this.use(this.forward);
    for (const name of ["commands", "motions"]) this.forward.array(name).fill(0);
    this.forward.reset();
    this.rest();
    this.sliders.forEach(({ slider, show }) => { slider.value = 0; show(0); });
    this.swaying = false;
    this.by = null;
    this.fault("");
  }

  /** Goes on with another simulation from where the robot is. */
  use(simulation) {
    if (simulation === this.simulation) return;
    simulation.copyState(this.simulation);
    this.simulation = simulation;
  }

  /** From now on the user leads the robot: by its "tip" or by "sliders". */
  take(by) {
    this.swaying = false;
    if (by === this.by) return;
    this.by = by;
    this.use(by === "tip" ? this.inverse : this.forward);
    if (by !== "tip") return;
    this.inverse.array("motions").set(this.forward.array("motions"));
    this.inverse.array("goals").set(this.inverse.array("effectors"));
  }

  /** The sway until somebody takes the robot: commands inside their ranges, each later than the one before. */
  sway() {
    const n = this.facts.actuators.length, t = this.simulation.time;
    const start = Math.min(1, t / 2);
    this.forward.array("commands").set(this.facts.actuators.map(({ range }, i) => {
      if (!range) return 0;
      const top = Math.abs(range[1]) >= Math.abs(range[0]) ? range[1] : range[0];
      return start * 0.3 * top * (1 + Math.sin(2 * Math.PI * (t / swaySeconds - i / n)));
    }));
  }

  pointer() {
    const canvas = element("view");
    let held = null;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height];
    };
    // The tip or goal within 24 pixels.
    const near = (event) => {
      if (!this.inverse) return null;
      const [x, y] = place(event);
      let best = null, least = event.pointerType === "touch" ? 40 : 24;
      for (const e of this.tips)
        for (const name of this.by === "tip" ? ["goals", "effectors"] : ["effectors"]) {
          const [px, py, depth] = this.camera.project(Array.from(this.simulation.array(name).slice(3 * e, 3 * e + 3)));
          const d = Math.hypot((px - x) * canvas.clientWidth / 2, (py - y) * canvas.clientHeight / 2);
          if (d < least) [best, least] = [{ e, depth, shift: [px - x, py - y] }, d];
        }
      return best;
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.focus();
      held = near(event) ?? { turn: true };
      held.last = [event.clientX, event.clientY];
      if (!held.turn) {
        this.take("tip");
        canvas.className = "grabbing";
      }
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) {
        canvas.className = near(event) ? "grab" : "";
        return;
      }
      if (held.turn) {
        const { camera } = this;
        camera.azimuth -= 0.01 * (event.clientX - held.last[0]);
        camera.elevation = Math.max(-1.5, Math.min(1.5, camera.elevation + 0.01 * (event.clientY - held.last[1])));
        held.last = [event.clientX, event.clientY];
        return;
      }
      const [x, y] = place(event);
      this.simulation.array("goals").set(this.camera.unproject(x + held.shift[0], y + held.shift[1], held.depth), 3 * held.e);
    });
    const release = () => {
      held = null;
      canvas.className = "";
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("wheel", (event) => {  // A page around this one scrolls.
      if (window !== window.top && !event.ctrlKey) return;
      event.preventDefault();
      const { camera } = this;
      camera.distance = Math.max(0.3 * camera.size, Math.min(8 * camera.size, camera.distance * Math.exp(1e-3 * event.deltaY)));
    }, { passive: false });
  }

  texts() {
    const { facts } = this, error = this.model.error;
    document.title = facts.name;
    element("name").textContent = facts.name;
    element("what").textContent = this.inverse
      ? "Drag the tip: the robot finds the commands that bring it there. Drag elsewhere to turn the view."
      : "Move the sliders. Drag elsewhere to turn the view.";
    this.figures = `${facts.nodes} nodes reduced to ${facts.modes} modes, ${facts.kept} of ${facts.elements} elements` +
      (error === null ? "" : `; ${(100 * error).toFixed(2)} % mean error on unseen commands`);
    element("figures").textContent = this.figures;
    element("panel").hidden = false;
    element("message").textContent = "";
  }

  fault(text) {
    element("message").textContent = text;
    element("message").className = text ? "error" : "";
  }

  advance(seconds) {
    const sim = this.simulation;
    this.pending = Math.min(this.pending + seconds, stepsPerFrame * sim.timeStep);
    const count = Math.floor(this.pending / sim.timeStep);
    if (count === 0) return;
    this.pending -= count * sim.timeStep;
    if (this.swaying) this.sway();
    const start = performance.now();
    try {
      sim.step(count);
    } catch (error) {
      this.paused = true;
      element("pause").textContent = "Go on";
      this.fault(error.message);
    }
    this.spent.ms += performance.now() - start;
    this.spent.steps += count;
  }

  draw() {
    const { view, camera, simulation: sim, facts } = this, size = camera.size, mark = 0.012 * size;
    view.update(this.skin, this.surface.update(sim.skin()));
    const marks = Object.fromEntries(Object.keys(this.marks).map((name) => [name, new Marks()]));
    const points = sim.array("points"), at = (k) => Array.from(points.slice(3 * k, 3 * k + 3));
    for (const actuator of facts.actuators) {
      if (actuator.type !== "cable") continue;
      const path = actuator.points.map(at).concat(actuator.pull_point ? [actuator.pull_point] : []);
      for (let k = 0; k + 1 < path.length; ++k) marks.cables.rod(path[k], path[k + 1], 0.15 * mark);
    }
    const effectors = sim.array("effectors");
    for (const e of this.tips) marks.tips.ball(Array.from(effectors.slice(3 * e, 3 * e + 3)), 0.7 * mark);
    if (this.by === "tip") {
      const goals = sim.array("goals");
      for (const e of this.tips) marks.goals.ball(Array.from(goals.slice(3 * e, 3 * e + 3)), mark);
    }
    this.pushes(marks.pushes, points, size);
    camera.shift = element("panel").offsetWidth / view.canvas.clientWidth;  // the robot stands beside the panel
    view.begin(camera);
    view.draw(this.skin, skinColour);
    const show = (name, colour, options) => {
      view.update(this.marks[name], marks[name].vertices, marks[name].corners);
      view.draw(this.marks[name], colour, options);
    };
    show("cables", cableColour);
    for (const { buffer, colour } of this.obstacles) view.draw(buffer, colour);
    show("pushes", pushColour, { onTop: true });
    show("goals", goalColour);
    show("tips", tipColour);
  }

  /** Arrows of the contact forces, the largest a quarter of the robot. */
  pushes(marks, points, size) {
    const forces = this.simulation.array("contactForces"), [, count, obstacles] = forces.shape;
    let most = 0;
    for (let k = 0; k < forces.length; k += 3) most = Math.max(most, Math.hypot(forces[k], forces[k + 1], forces[k + 2]));
    if (!(most > 0)) return;
    for (let p = 0; p < count; ++p)
      for (let o = 0; o < obstacles; ++o) {
        const k = 3 * (p * obstacles + o), force = Array.from(forces.slice(k, k + 3)), first = 3 * (this.facts.first_collision_point + p);
        if (Math.hypot(...force) > 0.01 * most)
          marks.arrow(Array.from(points.slice(first, first + 3)), force.map((x) => 0.25 * size * x / most), 0.003 * size);
      }
  }

  report() {
    const { simulation: sim, facts } = this;
    if (this.by !== "sliders") {
      const applied = sim.array("applied");
      facts.actuators.forEach((_, i) => { this.sliders[i].slider.value = applied[i]; this.sliders[i].show(applied[i]); });
    }
    let state = this.paused ? "paused" : "";
    if (this.by === "tip") {
      const goals = sim.array("goals"), now = sim.array("effectors");
      const away = Math.max(...this.tips.map((e) => Math.hypot(...vectors.subtract(now.slice(3 * e, 3 * e + 3), goals.slice(3 * e, 3 * e + 3)))));
      const text = `${(1e3 * away).toFixed(1)} mm`, stands = Math.abs(away - this.away) < 1e-5 && away > 1e-4;
      state = stands ? `As near as it gets: ${text} from the goal` : `${text} from the goal`;
      this.away = away;
    }
    element("state").textContent = state;
    if (this.spent.steps > 0) {
      const each = 1e3 * this.spent.ms / this.spent.steps;
      element("figures").textContent = `${this.figures}; ${each.toFixed(0)} µs a step of ${(1e3 * sim.timeStep).toFixed(0)} ms here`;
      this.spent = { steps: 0, ms: 0 };
    }
  }

  run() {
    let last = null, told = 0;
    const frame = (now) => {
      try {
        if (last !== null && !this.paused) this.advance((now - last) / 1e3);
        last = now;
        this.draw();
        if (now - told > 250) {
          this.report();
          told = now;
        }
      } catch (error) {
        this.fault(error.message);
        throw error;
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}

try {
  const runtime = await Runtime.load(await unpack("runtime"));
  const page = new Page(JSON.parse(element("facts").textContent), runtime.model(gather(await unpack("model"))));
  page.run();
  window.supple = { runtime, page };  // for the console
} catch (error) {
  element("message").textContent = error.message;
  element("message").className = "error";
  throw error;
}
