import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.setInterval = () => 0; // the pages tick, the tests don't
const { breaks } = await import("../js/days.js");
const { took } = await import("../js/times.js");

test("day breaks follow the reader's calendar, over a change of the clocks too", () => {
  const late = "2026-03-28T23:30:00Z", later = "2026-03-29T00:30:00Z";
  assert.equal(breaks(late, later, "Europe/Berlin"), false);
  assert.equal(breaks(late, later, "UTC"), true);
  assert.equal(breaks("2026-03-29T21:59:00Z", "2026-03-29T22:01:00Z", "Europe/Berlin"), true);
});

test("elapsed times read as on the server", () => {
  assert.deepEqual([-5, 8e3, 134e3, 3600e3, 90000e3].map(took), ["0:00", "0:08", "2:14", "1 h", "1 d"]);
});
