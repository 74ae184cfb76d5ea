// The page of a robot: it steps in this tab, and its end effectors are led where they are dragged to.

import { Runtime } from "./runtime.mjs";
import { Camera, Marks, MovingSurface, View } from "./view.mjs";

const element = (id) => document.getElementById(id);
const skinColour = [0.93, 0.62, 0.42, 1], solidColour = [0.58, 0.6, 0.63, 1], wallColour = [0.58, 0.6, 0.63, 0.3];
const cableColour = [0.13, 0.33, 0.55, 1], tipColour = [0.1, 0.12, 0.15, 1], goalColour = [0.83, 0.13, 0.18, 1];
const pushColour = [0.1, 0.55, 0.3, 1];
const budget = 12, swaySeconds = 7;  // ms of steps in a frame

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

/** Corners of the box around points of three numbers each. */
function box(points) {
  const low = [Infinity, Infinity, Infinity], high = low.map((x) => -x);
  for (let k = 0; k < points.length; ++k) {
    low[k % 3] = Math.min(low[k % 3], points[k]);
    high[k % 3] = Math.max(high[k % 3], points[k]);
  }
  return points.length > 0 ? [low, high] : [[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]];
}

/** A copy of three numbers of an array of the runtime. */
const three = (array, k) => Array.from(array.slice(3 * k, 3 * k + 3));

class Page {
  constructor(facts, model) {
    this.facts = facts;
    this.model = model;
    this.simulation = this.forward = model.simulation();
    this.rest();
    this.tips = facts.effectors.flatMap((effector, e) => (effector.type === "position" ? [e] : []));
    this.inverse = null;
    if (this.tips.length > 0 && facts.actuators.length > 0) {
      try {
        this.inverse = model.simulation({ inverse: true });
        facts.effectors.forEach((_, e) => this.inverse.steer(e, false));  // until they are dragged
      } catch (error) {
        this.inverse = null;
        this.reason = ` Its tip cannot be led: ${error.message}.`;
      }
    }
    this.view = new View(element("view"));
    const triangles = this.forward.triangles(), rest = this.forward.skin().slice();
    this.camera = new Camera(...box(rest.length > 0 ? rest : this.forward.array("points").slice()));
    this.surface = new MovingSurface(rest, triangles);
    this.skin = this.view.buffer(this.surface.vertices, this.surface.corner);
    this.marks = Object.fromEntries(["cables", "tips", "goals", "pushes"].map((name) => [name, this.view.buffer([], [])]));
    this.obstacles = facts.obstacles.map(({ nodes, triangles: corners, see_through }) => {
      const surface = new MovingSurface(nodes, corners);
      return { buffer: this.view.buffer(surface.update(nodes), surface.corner), colour: see_through ? wallColour : solidColour };
    });
    this.swaying = !matchMedia("(prefers-reduced-motion: reduce)").matches && !/[?&]still\b/.test(location.search);
    this.paused = false;
    this.pending = 0;
    this.by = null;  // what leads: "tip" or "sliders"
    this.led = new Set();  // tips that have been dragged
    this.spent = { steps: 0, ms: 0, since: performance.now() };
    this.controls();
    this.pointer();
    this.texts();
  }

  controls() {
    const n = this.facts.actuators.length;
    this.sliders = [...this.facts.actuators, ...this.facts.motions].map((input, i) => {
      const [unit, factor] = units[input.control], [low, high] = input.range ?? [0, 0];
      const row = document.createElement("label"), name = document.createElement("span"), value = document.createElement("span");
      const slider = document.createElement("input"), start = Math.min(Math.max(0, low), high);
      row.className = "slider";
      name.textContent = input.name;
      Object.assign(slider, { type: "range", min: low, max: high, step: "any", value: start, disabled: !input.range });
      row.append(name, value, slider);
      element("sliders").append(row);
      const show = (x) => {
        slider.value = x;
        value.textContent = `${(factor * x).toFixed(Math.abs(factor * high) < 10 ? 2 : 1)} ${unit}`;
      };
      slider.addEventListener("input", () => {
        const wanted = slider.valueAsNumber;
        this.take("sliders");
        if (i < n) this.forward.array("commands")[i] = wanted;
        else this.forward.array("motions")[i - n] = wanted;
        show(wanted);
      });
      show(start);
      return { slider, show, start };
    });
    element("pause").addEventListener("click", () => this.pause(!this.paused));
    element("reset").addEventListener("click", () => this.reset());
  }

  pause(paused) {
    this.paused = paused;
    element("pause").textContent = paused ? "Continue" : "Pause";
    if (!paused) this.fault("");
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
    this.simulation = this.forward;
    for (const name of ["commands", "motions"]) this.forward.array(name).fill(0);
    this.forward.reset();
    this.rest();
    this.sliders.forEach(({ show, start }) => show(start));
    this.swaying = false;
    this.by = this.held = null;
    this.pause(false);
  }

  /** From now on the user leads the robot: by the "tip" or by "sliders". The other simulation continues where it is. */
  take(by) {
    this.swaying = false;
    if (by === this.by) return;
    this.by = by;
    this.held = null;
    const from = this.simulation, to = by === "tip" ? this.inverse : this.forward;
    if (to !== from) {
      to.copyState(from);
      const motions = Array.from(from.array("motions"));
      to.array("motions").set(motions);
      this.simulation = to;
    }
    const applied = Array.from(to.array("applied")), now = Array.from(to.array("effectors"));
    if (by === "tip") {
      to.array("goals").set(now);
      this.led.forEach((e) => to.steer(e, false));
      this.led.clear();
    } else {
      to.array("commands").set(applied);
    }
  }

  /** A tip is led from now on, others only if they have been dragged too. */
  lead(e) {
    this.take("tip");
    if (this.led.has(e)) return;
    const now = three(this.inverse.array("effectors"), e);
    this.inverse.array("goals").set(now, 3 * e);
    this.inverse.steer(e, true);
    this.led.add(e);
  }

  /** The sway until somebody takes the robot: commands inside their ranges, each later than the one before. */
  sway() {
    const n = this.facts.actuators.length, t = this.simulation.time, start = Math.min(1, t / 2);
    this.forward.array("commands").set(this.facts.actuators.map(({ range }, i) => {
      if (!range) return 0;
      const [low, high] = range, rest = Math.min(Math.max(0, low), high), far = high - rest > rest - low ? high : low;
      return rest + start * 0.3 * (far - rest) * (1 + Math.sin(2 * Math.PI * (t / swaySeconds - i / n)));
    }));
  }

  /** Drags tips, turns the view; two fingers or the wheel come nearer. */
  pointer() {
    const canvas = element("view"), fingers = new Map();
    const place = (event) => {
      const frame = canvas.getBoundingClientRect();
      return [2 * (event.clientX - frame.left) / frame.width - 1, 1 - 2 * (event.clientY - frame.top) / frame.height];
    };
    // The tip or goal within 24 pixels.
    const near = (event) => {
      if (!this.inverse) return null;
      const [x, y] = place(event);
      let best = null, least = event.pointerType === "touch" ? 40 : 24;
      for (const e of this.tips)
        for (const name of this.by === "tip" && this.led.has(e) ? ["goals", "effectors"] : ["effectors"]) {
          const [px, py, depth] = this.camera.project(three(this.simulation.array(name), e));
          const d = Math.hypot((px - x) * canvas.clientWidth / 2, (py - y) * canvas.clientHeight / 2);
          if (d < least) [best, least] = [{ e, depth, shift: [px - x, py - y] }, d];
        }
      return best;
    };
    const zoom = (factor) => {
      const { camera } = this;
      camera.distance = Math.max(0.3 * camera.size, Math.min(8 * camera.size, camera.distance * factor));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size > 1) {
        this.held = null;
        return;
      }
      const tip = near(event);
      if (tip) this.lead(tip.e);
      this.held = tip ?? { turn: true };
      if (tip) canvas.className = "grabbing";
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = fingers.get(event.pointerId), at = [event.clientX, event.clientY];
      if (!last) {
        canvas.className = near(event) ? "grab" : "";
        return;
      }
      fingers.set(event.pointerId, at);
      if (fingers.size === 2) {
        const [[, other]] = [...fingers].filter(([id]) => id !== event.pointerId);
        zoom(Math.hypot(last[0] - other[0], last[1] - other[1]) / Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1])));
      } else if (this.held?.turn) {
        const { camera } = this;
        camera.azimuth -= 0.01 * (at[0] - last[0]);
        camera.elevation = Math.max(-1.5, Math.min(1.5, camera.elevation + 0.01 * (at[1] - last[1])));
      } else if (this.held) {
        const [x, y] = place(event), { e, depth, shift } = this.held;
        this.inverse.array("goals").set(this.camera.unproject(x + shift[0], y + shift[1], depth), 3 * e);
      }
    });
    const release = (event) => {
      fingers.delete(event.pointerId);
      this.held = null;
      canvas.className = "";
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("wheel", (event) => {  // A page around this one scrolls.
      if (window !== window.top && !event.ctrlKey) return;
      event.preventDefault();
      zoom(Math.exp(1e-3 * event.deltaY));
    }, { passive: false });
    canvas.addEventListener("webglcontextlost", () => this.fault("The browser has taken the graphics away: reload the page."));
  }

  texts() {
    const { facts } = this, error = this.model.error, name = facts.name || "Robot";
    document.title = name;
    element("name").textContent = name;
    element("what").textContent = this.inverse
      ? "Drag the tip: the robot finds the commands that bring it there. Drag elsewhere to turn the view."
      : `Move the sliders. Drag elsewhere to turn the view.${this.reason ?? ""}`;
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

  /** Steps for so much time, as far as they fit into a frame. */
  advance(seconds) {
    const sim = this.simulation, start = performance.now();
    this.pending = Math.min(this.pending + seconds, 0.1);
    if (this.swaying) this.sway();
    try {
      while (this.pending >= sim.timeStep && performance.now() - start < budget) {
        sim.step();
        this.pending -= sim.timeStep;
        ++this.spent.steps;
      }
    } catch (error) {
      this.pause(true);
      this.fault(error.message);
    }
    this.pending = Math.min(this.pending, sim.timeStep);
    this.spent.ms += performance.now() - start;
  }

  draw() {
    const { view, camera, simulation: sim, facts } = this, size = camera.size, mark = 0.012 * size;
    view.update(this.skin, this.surface.update(sim.skin()));
    const marks = Object.fromEntries(Object.keys(this.marks).map((name) => [name, new Marks()]));
    const points = sim.array("points").slice(), effectors = sim.array("effectors").slice();
    for (const actuator of facts.actuators) {
      if (actuator.type !== "cable") continue;
      const path = actuator.points.map((k) => three(points, k)).concat(actuator.pull_point ? [actuator.pull_point] : []);
      for (let k = 0; k + 1 < path.length; ++k) marks.cables.rod(path[k], path[k + 1], 0.15 * mark);
    }
    for (const e of this.tips) marks.tips.ball(three(effectors, e), 0.7 * mark);
    if (this.by === "tip")
      for (const e of this.led) marks.goals.ball(three(sim.array("goals"), e), mark);
    this.pushes(marks.pushes, points, size);
    camera.shift = Math.min(0.5, element("panel").offsetWidth / view.canvas.clientWidth);  // the robot stands beside the panel
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
    const view = this.simulation.array("contactForces"), [, count, obstacles] = view.shape, forces = view.slice();
    let most = 0;
    for (let k = 0; k < forces.length; k += 3) most = Math.max(most, Math.hypot(forces[k], forces[k + 1], forces[k + 2]));
    if (!(most > 0)) return;
    for (let p = 0; p < count; ++p)
      for (let o = 0; o < obstacles; ++o) {
        const force = three(forces, p * obstacles + o);
        if (Math.hypot(...force) > 0.01 * most)
          marks.arrow(three(points, this.facts.first_collision_point + p), force.map((x) => 0.25 * size * x / most), 0.003 * size);
      }
  }

  report() {
    const { simulation: sim, facts } = this;
    if (this.by !== "sliders") {
      const applied = sim.array("applied");
      facts.actuators.forEach((_, i) => this.sliders[i].show(applied[i]));
    }
    let state = "";
    if (this.by === "tip") {
      const errors = sim.array("goalErrors"), away = Math.max(...[...this.led].map((e) => errors[e]));
      const text = `${(1e3 * away).toFixed(1)} mm`, stands = Math.abs(away - this.away) < 1e-5 && away > 1e-4;
      state = stands ? `Goal not reached: ${text} away` : `${text} from the goal`;
      this.away = away;
    }
    element("state").textContent = this.paused ? "Paused" : state;
    const { steps, ms, since } = this.spent, now = performance.now();
    if (steps > 0) {
      const factor = 1e3 * steps * sim.timeStep / (now - since);
      element("figures").textContent = `${this.figures}; ${(1e3 * ms / steps).toFixed(0)} µs a step of ` +
        `${+(1e3 * sim.timeStep).toPrecision(3)} ms here, ${factor.toFixed(2)} × real time`;
    }
    this.spent = { steps: 0, ms: 0, since: now };
  }

  run() {
    let last = null, told = 0;
    const frame = (now) => {
      try {
        if (last !== null && !this.paused) this.advance((now - last) / 1e3);
        last = now;
        this.draw();
        if (now - told > 500) {
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
