// Values under the pointer. The page is complete without it.
(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const points = (line) => line.getAttribute("points").trim().split(/\s+/).map((pair) => pair.split(",").map(Number));
  const axis = (frame, name, low, high) => {
    const [from, to, kind] = frame.getAttribute("data-" + name).split(" ");
    const range = [Number(from), Number(to)];
    return { range, kind, low, high, label: frame.getAttribute("data-" + name + "-label") };
  };
  // what is at a place of the paper, with as many digits as the paper tells
  const value = (axis, place) => {
    const [from, to] = axis.range;
    const at = from + ((to - from) * (place - axis.low)) / (axis.high - axis.low);
    if (axis.kind === "log") return (10 ** at).toPrecision(3);
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(to - from) || 1)) - 3);
    return String(Number((Math.round(at / unit) * unit).toPrecision(8)));
  };
  // the frames of a figure, each with the lines that are drawn into it
  const frames = (svg) => {
    const found = [];
    for (const line of svg.querySelectorAll("[data-x],[data-series]")) {
      const corners = points(line);
      if (line.hasAttribute("data-x")) {
        const [left, top] = corners[0], [right, bottom] = corners[2];
        found.push({ left, top, right, bottom, lines: [], x: axis(line, "x", left, right), y: axis(line, "y", bottom, top) });
      } else if (found.length) {
        found[found.length - 1].lines.push({ label: line.getAttribute("data-series"), corners });
      }
    }
    return found;
  };
  const nearest = (line, x) => line.corners.reduce((best, p) => (Math.abs(p[0] - x) < Math.abs(best[0] - x) ? p : best));
  const reading = (frame, x, y) => {
    const lines = [frame.x.label + ": " + value(frame.x, x)];
    const near = (frame.right - frame.left) / 50;
    const of = new Map();
    for (const line of frame.lines) {
      const p = nearest(line, x), distance = Math.abs(p[0] - x), known = of.get(line.label);
      if (distance < near && (!known || distance < known.distance)) of.set(line.label, { distance, y: p[1] });
    }
    if (!of.size) lines.push(frame.y.label + ": " + value(frame.y, y));
    for (const [label, found] of of) lines.push((label || frame.y.label) + ": " + value(frame.y, found.y));
    return lines.join("\n");
  };
  for (const svg of document.querySelectorAll(".zoom svg")) {
    let known = null;
    const mark = document.createElementNS(svg.namespaceURI, "line");
    for (const [name, set] of [["stroke", "#5A5A5A"], ["stroke-width", "6"], ["stroke-dasharray", "20 20"], ["visibility", "hidden"]]) mark.setAttribute(name, set);
    svg.append(mark);
    const leave = () => {
      tip.hidden = true;
      mark.setAttribute("visibility", "hidden");
    };
    svg.addEventListener("pointermove", (event) => {
      known = known || frames(svg);
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const frame = known.find((f) => x >= f.left && x <= f.right && y >= f.top && y <= f.bottom);
      if (!frame) return leave();
      tip.textContent = reading(frame, x, y);
      tip.hidden = false;
      tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)) + "px";
      tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)) + "px";
      for (const [name, set] of [["x1", x], ["x2", x], ["y1", frame.top], ["y2", frame.bottom], ["visibility", "visible"]]) mark.setAttribute(name, set);
    });
    svg.addEventListener("pointerleave", leave);
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll(".zoom input:checked").forEach((box) => (box.checked = false));
  });
})();
