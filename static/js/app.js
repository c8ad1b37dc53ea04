/** Everything that a page does beyond working without script. */
import { times } from "./times.js";
import { days } from "./days.js";
import { composer } from "./composer.js";
import { transcript } from "./transcript.js";
import { details, theme } from "./settings.js";
import { quietForms } from "./forms.js";
import { keys } from "./keys.js";
import { live } from "./live.js";

times(document);
days(document.getElementById("transcript"));
const scroll = document.querySelector("[data-transcript]");
const view = scroll ? transcript(scroll) : null;
for (const form of document.querySelectorAll("[data-composer]")) composer(form, view);
details();
theme();
quietForms();
keys();
live(document.body, view);
