"use strict";
// Draws every <figure data-chart>, with uPlot, in the colours of the stylesheet. The attribute is JSON:
//   x: {label, values, time}            numbers, rising; seconds since 1970 where `time` is true
//   y: {label}, right: {label}          the axes; `right` only where a series says `right: true`
//   series: [{label, values, kind, dashed, right}]    kind: "line" (unless said), "steps", "bars" or "points"
//   marks: [{x, label, input}]          upright lines; one with `input` (a CSS selector) follows that field's number
//   height: in pixels
(() => {
  const COLOURS = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5"];
  const drawn = new Map();

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (n) => (n == null ? "–" : n.toLocaleString("en", { maximumSignificantDigits: 6 }));

  function paths(kind) {
    if (kind === "steps") return uPlot.paths.stepped({ align: 1 });
    if (kind === "bars") return uPlot.paths.bars({ size: [0.8, 64] });
    return kind === "points" ? () => null : undefined;
  }

  function oneSeries(series, at, scale) {
    const stroke = colour(COLOURS[at % COLOURS.length]);
    const bars = series.kind === "bars";
    return {
      label: series.label, scale, stroke, width: 2, dash: series.dashed ? [6, 4] : undefined, paths: paths(series.kind),
      fill: bars ? stroke : undefined, points: { show: series.kind === "points" || series.values.length === 1, size: 7, fill: stroke },
      value: (_, n) => number(n),
    };
  }

  const DAY = 86400;
  const date = uPlot.fmtDate("{YYYY}-{MM}-{DD}"), clock = uPlot.fmtDate("{HH}:{mm}");
  const utc = (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC");

  function times(self, splits, axis, space, step) {
    if (step >= DAY) return splits.map((at) => date(utc(at)));
    return splits.map((at, n) => clock(utc(at)) + (n === 0 || at % DAY === 0 ? `\n${date(utc(at))}` : ""));
  }

  function oneAxis(axis, more) {
    const line = { stroke: colour("--line"), width: 1 };
    return {
      label: axis?.label, labelSize: 20, stroke: colour("--soft"), grid: line, ticks: { ...line, size: 5 },
      font: "12px system-ui", labelFont: "12px system-ui", gap: 4, ...more,
    };
  }

  function marker(marks) {
    return (chart) => {
      const { ctx, bbox } = chart;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = colour("--warn");
      ctx.lineWidth = devicePixelRatio;
      ctx.font = `${12 * devicePixelRatio}px system-ui`;
      for (const [line, mark] of marks.entries()) {
        const x = mark.input ? Number(document.querySelector(mark.input)?.value) : mark.x;
        const place = chart.valToPos(x, "x", true);
        if (!(place >= bbox.left - 1 && place <= bbox.left + bbox.width + 1)) continue;
        ctx.setLineDash(mark.input ? [] : [5, 4].map((n) => n * devicePixelRatio));
        ctx.beginPath();
        ctx.moveTo(place, bbox.top);
        ctx.lineTo(place, bbox.top + bbox.height);
        ctx.stroke();
        const near = place > bbox.left + bbox.width / 2;
        ctx.textAlign = near ? "right" : "left";
        ctx.fillText(mark.label ?? "", place + (near ? -5 : 5) * devicePixelRatio, bbox.top + (14 + 16 * line) * devicePixelRatio);
      }
      ctx.restore();
    };
  }

  function options(chart, width) {
    const right = chart.series.some((series) => series.right);
    const below = chart.x.time ? { values: times, size: 44, space: 90 } : { size: 32 };
    const axes = [oneAxis(chart.x, below), oneAxis(chart.y, { size: axisSize })];
    if (right) axes.push(oneAxis(chart.right, { scale: "right", side: 1, size: axisSize, grid: { show: false } }));
    const fromZero = { range: (_, low, high) => [Math.min(low ?? 0, 0), (high || 1) * 1.05] };
    return {
      width, height: chart.height ?? 260, axes,
      scales: { x: { time: Boolean(chart.x.time), range: sideways(chart) }, y: fromZero, right: fromZero },
      series: [
        { label: chart.x.label, value: (_, n) => (chart.x.time && n != null ? `${date(utc(n))} ${clock(utc(n))}` : number(n)) },
        ...chart.series.map((series, at) => oneSeries(series, at, series.right ? "right" : "y")),
      ],
      cursor: { drag: { x: false, y: false }, points: { size: 7 } },
      hooks: { draw: [marker(chart.marks ?? [])] },
      tzDate: utc,
    };
  }

  function sideways(chart) {
    const values = chart.x.values, first = values[0], last = values[values.length - 1];
    const steps = values.slice(1).map((value, at) => value - values[at]);
    const bars = chart.series.some((series) => series.kind === "bars");
    const room = values.length < 2 ? (chart.x.time ? 6 * 3600 : 1) : bars ? Math.min(...steps) / 2 : 0;
    return () => [first - room, last + room];
  }

  function axisSize(self, values) {
    const longest = Math.max(0, ...(values ?? []).map((value) => String(value).length));
    return 18 + 7 * longest;
  }

  function draw(figure) {
    const place = figure.querySelector(".drawing");
    const chart = JSON.parse(figure.dataset.chart);
    drawn.get(figure)?.plot.destroy();
    const plot = new uPlot(options(chart, place.clientWidth), [chart.x.values, ...chart.series.map((s) => s.values)], place);
    drawn.set(figure, { plot, chart });
    watcher.observe(place);
  }

  const watcher = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const found = drawn.get(target.closest("[data-chart]"));
      if (found && target.clientWidth && target.clientWidth !== found.plot.width) {
        found.plot.setSize({ width: target.clientWidth, height: found.plot.height });
      }
    }
  });

  function drawAll() {
    for (const [figure, { plot }] of drawn) {
      if (!figure.isConnected) { plot.destroy(); drawn.delete(figure); }
    }
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      if (!drawn.has(figure)) draw(figure);
    }
  }

  document.addEventListener("DOMContentLoaded", drawAll);
  document.addEventListener("htmx:load", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => [...drawn.keys()].forEach(draw));
  document.addEventListener("input", (event) => {
    for (const { plot, chart } of drawn.values()) {
      if (chart.marks?.some((mark) => mark.input && event.target.matches(mark.input))) plot.redraw(false);
    }
  });
})();
