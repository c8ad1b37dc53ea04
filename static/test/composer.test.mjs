import assert from "node:assert/strict";
import { test } from "node:test";
import { sends } from "../js/composer.js";

const key = (o) => ({ key: "Enter", isComposing: false, keyCode: 13, ctrlKey: false, metaKey: false, shiftKey: false, ...o });

test("Enter sends, Shift+Enter does not, Ctrl and Cmd always do", () => {
  assert.equal(sends(key({})), true);
  assert.equal(sends(key({ shiftKey: true })), false);
  assert.equal(sends(key({ shiftKey: true, ctrlKey: true })), true);
  assert.equal(sends(key({ metaKey: true })), true);
  assert.equal(sends(key({ key: "a" })), false);
});

test("the Enter that confirms an input method's candidate sends nothing", () => {
  assert.equal(sends(key({ isComposing: true })), false);
  assert.equal(sends(key({ keyCode: 229 })), false);
});
