// Surfaces of a robot and of what is around it, drawn by WebGL 2. Lengths in metres, z up.

const vertexShader = `#version 300 es
uniform mat4 camera;
in vec3 position, normal;
out vec3 at, n;
void main() { at = position; n = normal; gl_Position = camera * vec4(position, 1.0); }`;

const fragmentShader = `#version 300 es
precision highp float;
uniform vec4 colour;
uniform vec3 eye;
in vec3 at, n;
out vec4 pixel;
void main() {
  vec3 towards = normalize(eye - at), normal = normalize(n);
  if (dot(normal, towards) < 0.0) normal = -normal;
  vec3 light = normalize(towards + vec3(0.25, -0.35, 0.9));
  float sky = 0.5 + 0.5 * normal.z, direct = max(dot(normal, light), 0.0);
  float shine = pow(max(dot(normal, normalize(light + towards)), 0.0), 40.0);
  pixel = vec4(colour.rgb * (0.30 + 0.18 * sky + 0.55 * direct) + 0.10 * shine, 1.0) * colour.a;
}`;

const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const n = Math.hypot(...a); return n > 0 ? a.map((x) => x / n) : [0, 0, 1]; };

/** Turns around a point: angles [rad], distance [m]. */
export class Camera {
  constructor(low, high) {
    this.target = add(low, subtract(high, low), 0.5);
    this.size = Math.hypot(...subtract(high, low));
    this.azimuth = -1.1;
    this.elevation = 0.35;
    this.corners = Array.from({ length: 8 }, (_, k) => [0, 1, 2].map((i) => ((k >> i) & 1 ? high : low)[i]));
    this.distance = null;  // update() finds it
    this.view = Math.tan(0.26);  // of half the angle of view, across the shorter side
    this.shift = 0;  // of the middle to the right, a fraction of half the width
  }
  /** For a picture of so many pixels. The first time it comes as near as all of the robot is to be seen. */
  update(width, height) {
    if (this.distance === null) {
      this.distance = 0.8 * this.size;
      const outside = ([x, y, depth]) => !(depth > 0 && Math.abs(x - this.shift) < 0.9 - Math.abs(this.shift) && Math.abs(y) < 0.85);
      do {
        this.distance *= 1.05;
        this.place(width, height);
      } while (this.distance < 8 * this.size && this.corners.some((corner) => outside(this.project(corner))));
    }
    this.place(width, height);
  }
  place(width, height) {
    const { azimuth: a, elevation: e } = this;
    const back = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    this.eye = add(this.target, back, this.distance);
    this.right = unit(cross([0, 0, 1], back));
    this.up = cross(back, this.right);
    this.back = back;
    this.tangents = width > height ? [this.view * width / height, this.view] : [this.view, this.view * height / width];
    const [tx, ty] = this.tangents, near = 0.02 * this.distance, far = this.distance + 10 * this.size;
    const rows = [this.right.map((x, i) => x / tx - this.shift * back[i]), this.up.map((x) => x / ty), back, back];
    const moved = rows.map((row) => -dot(row, this.eye));
    const k = (far + near) / (far - near), m = 2 * far * near / (far - near);
    // Columns: clip = (right / tx, up / ty, k z' - m, z') with z' = -back . (x - eye), the depth.
    this.matrix = new Float32Array(16);
    for (let c = 0; c < 4; ++c) {
      const entry = (r) => (c < 3 ? rows[r][c] : moved[r]);
      this.matrix.set([entry(0), entry(1), -k * entry(2) - (c === 3 ? m : 0), -entry(3)], 4 * c);
    }
  }
  /** Place in the picture, -1 to 1 to the right and up, and the depth [m]. */
  project(x) {
    const d = subtract(x, this.eye), depth = -dot(this.back, d);
    return [dot(this.right, d) / (depth * this.tangents[0]) + this.shift, dot(this.up, d) / (depth * this.tangents[1]), depth];
  }
  /** The point at a place in the picture and at a depth. */
  unproject(x, y, depth) {
    return add(add(add(this.eye, this.back, -depth), this.right, (x - this.shift) * depth * this.tangents[0]),
      this.up, y * depth * this.tangents[1]);
  }
}

/** Triangles that move: their corners are taken from nodes, and two faces at a node share a normal where the angle
 * between them at rest is small. */
export class MovingSurface {
  constructor(rest, triangles, angle = 0.6) {
    this.triangles = triangles;
    const faces = this.faceNormals(rest), count = triangles.length / 3, nodes = rest.length / 3;
    const around = Array.from({ length: nodes }, () => []);
    triangles.forEach((node, corner) => around[node].push(corner));
    this.node = [];  // of each vertex
    this.corner = new Uint32Array(3 * count);  // the vertex at each corner
    for (let node = 0; node < nodes; ++node) {
      const groups = [];
      for (const corner of around[node]) {
        const normal = faces.slice(corner - corner % 3, corner - corner % 3 + 3);
        let group = groups.find((g) => dot(unit(g.sum), unit(normal)) > Math.cos(angle));
        if (!group) groups.push(group = { sum: [0, 0, 0], vertex: this.node.push(node) - 1 });
        group.sum = add(group.sum, normal);
        this.corner[corner] = group.vertex;
      }
    }
    this.vertices = new Float32Array(6 * this.node.length);
  }
  /** Normals of the triangles, as long as twice their areas. */
  faceNormals(nodes) {
    const t = this.triangles, normals = new Float64Array(t.length);
    for (let k = 0; k < t.length; k += 3) {
      const at = (c) => [nodes[3 * t[k + c]], nodes[3 * t[k + c] + 1], nodes[3 * t[k + c] + 2]], a = at(0);
      normals.set(cross(subtract(at(1), a), subtract(at(2), a)), k);
    }
    return normals;
  }
  /** Positions and normals of the vertices now. */
  update(nodes) {
    const faces = this.faceNormals(nodes), v = this.vertices;
    v.fill(0);
    for (let corner = 0; corner < this.corner.length; ++corner) {
      const at = 6 * this.corner[corner] + 3, face = corner - corner % 3;
      for (let i = 0; i < 3; ++i) v[at + i] += faces[face + i];
    }
    for (let k = 0; k < this.node.length; ++k)
      for (let i = 0; i < 3; ++i) v[6 * k + i] = nodes[3 * this.node[k] + i];
    return v;
  }
}

/** Solid marks, collected as triangles: vertices of six numbers (position, normal), and corners. */
export class Marks {
  constructor() {
    this.vertices = [];
    this.corners = [];
  }
  /** The surface of revolution of a profile around an axis: points [along, radius], or [along, radius, normal along,
   * normal outwards] where it is round. */
  revolved(origin, axis, profile, sectors = 24) {
    const z = unit(axis), x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x);
    for (let k = 0; k + 1 < profile.length; ++k) {
      const [a, r, ...first] = profile[k], [b, s, ...second] = profile[k + 1], flat = unit([r - s, b - a, 0]);
      for (let i = 0; i <= sectors; ++i) {
        const angle = 2 * Math.PI * i / sectors, out = add(x.map((v) => v * Math.cos(angle)), y, Math.sin(angle));
        const normal = ([along, outwards]) => add(out.map((v) => v * outwards), z, along), c = this.vertices.length / 6;
        this.vertices.push(...add(add(origin, z, a), out, r), ...normal(first[1] === undefined ? flat : first),
          ...add(add(origin, z, b), out, s), ...normal(second[1] === undefined ? flat : second));
        if (i < sectors) this.corners.push(c, c + 2, c + 1, c + 1, c + 2, c + 3);
      }
    }
  }
  ball(centre, radius, bands = 10) {
    const profile = Array.from({ length: bands + 1 }, (_, k) => -Math.PI / 2 + Math.PI * k / bands)
      .map((angle) => [radius * Math.sin(angle), radius * Math.cos(angle), Math.sin(angle), Math.cos(angle)]);
    this.revolved(centre, [0, 0, 1], profile, 20);
  }
  rod(a, b, radius) {
    const way = subtract(b, a), length = Math.hypot(...way);
    if (length > 0) this.revolved(a, way, [[0, 0], [0, radius], [length, radius], [length, 0]], 10);
  }
  arrow(a, way, radius) {
    const length = Math.hypot(...way), head = Math.min(6 * radius, length / 2);
    if (length > 0)
      this.revolved(a, way, [[0, radius], [length - head, radius], [length - head, 2.5 * radius], [length, 0]], 12);
  }
}

export class View {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.canvas = canvas;
    this.gl = gl;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertexShader], [gl.FRAGMENT_SHADER, fragmentShader]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "position");
    gl.bindAttribLocation(program, 1, "normal");
    gl.linkProgram(program);
    gl.useProgram(program);
    this.place = Object.fromEntries(["camera", "eye", "colour"].map((name) => [name, gl.getUniformLocation(program, name)]));
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  /** Fits the canvas to its place in the page. */
  begin(camera) {
    const { canvas, gl } = this, scale = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(scale * canvas.clientWidth));
    const height = Math.max(1, Math.round(scale * canvas.clientHeight));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    camera.update(width, height);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(this.place.camera, false, camera.matrix);
    gl.uniform3fv(this.place.eye, camera.eye);
  }
  /** Triangles for draw(): `vertices` change with update() only. */
  buffer(vertices, corners) {
    const { gl } = this, object = { array: gl.createVertexArray(), vertices: gl.createBuffer(), count: corners.length };
    gl.bindVertexArray(object.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, object.vertices);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(vertices), gl.DYNAMIC_DRAW);
    object.corners = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, object.corners);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(corners), gl.DYNAMIC_DRAW);
    for (const k of [0, 1]) {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 24, 12 * k);
    }
    return object;
  }
  update(object, vertices, corners = null) {
    const { gl } = this;
    gl.bindVertexArray(object.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, object.vertices);
    gl.bufferData(gl.ARRAY_BUFFER, vertices instanceof Float32Array ? vertices : new Float32Array(vertices), gl.DYNAMIC_DRAW);
    if (!corners) return;
    object.count = corners.length;
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(corners), gl.DYNAMIC_DRAW);
  }
  /** `colour`: red, green, blue, opacity. `onTop`: over what was drawn before. */
  draw(object, colour, { onTop = false } = {}) {
    const { gl } = this;
    if (onTop) gl.clear(gl.DEPTH_BUFFER_BIT);
    const clear = colour[3] < 1;
    (clear ? gl.enable : gl.disable).call(gl, gl.BLEND);
    gl.depthMask(!clear);
    gl.uniform4fv(this.place.colour, colour);
    gl.bindVertexArray(object.array);
    gl.drawElements(gl.TRIANGLES, object.count, gl.UNSIGNED_INT, 0);
    gl.depthMask(true);
  }
}
