package offline

import "strings"

// kin are everyday words that speak of one thing, a group a line: whoever's job names
// one of them is likely to be meant by another. They are general English; nothing in
// them is about one workforce.
const kin = `
bank account balance deposit withdraw withdrawal transfer savings checking saving money fund funds cash
bill bills pay payment due owe invoice charge minimum utility electric
transaction purchase spend spent spending bought buy expense statement
fraud fraudulent stolen suspicious scam unauthorized hacked identity theft
card credit visa mastercard amex discover debit plastic
interest rate apr percentage percent annual
limit increase raise higher cap maximum
points rewards reward earn earned bonus miles
declined rejected refused denied blocked freeze frozen hold locked lock
score rating improve build history
lost lose missing replace replacement damaged broken snapped cracked bent
expire expires expiration expiry valid renew
pin code passcode number digits
check checks checkbook cheque checkbooks
cook cooking recipe bake boil fry grill roast oven meal dish food make prepare simmer
eat dinner lunch breakfast supper meal snack hungry cuisine
ingredient ingredients substitute instead swap flour sugar butter salt egg eggs milk oil spice sauce
food chicken beef pork fish rice pasta pizza soup salad bread cheese cake vegetable fruit meat potato cookies pancakes
calorie calories nutrition healthy protein fat carbs vitamins diet sodium nutritional
restaurant reservation table reserve book dine diner place cafe
review reviews rating stars good best recommend recommended
spoil spoiled bad rotten expired stale keep fridge last refrigerator shelf
light lights lamp bulb dim brightness thermostat heater smart plug switch
list todo task tasks chore chores shopping grocery groceries item items
remind reminder reminders remember forget
order ordered shipped shipping package delivery deliver delivered arrive parcel track tracking shipment
music song songs play playlist album artist band tune track listen playing skip pandora spotify
calendar schedule event appointment agenda meeting planned plans birthday
car vehicle auto engine drive driving truck motor dashboard
tire tires tyre tyres air pressure flat wheel psi
gas fuel gasoline petrol tank diesel unleaded mpg mileage gallon
oil change filter maintenance service mechanic repair tune
jump start battery dead cables jumpstart
traffic road highway commute jam congestion rush route
direction directions distance far map route way navigate miles drive bus station nearest
location gps coordinates where position located current
uber lyft taxi cab ride
flight flights fly plane airplane airline airport boarding depart land ticket tickets
hotel hotels room motel inn lodging stay accommodation rooms
travel trip vacation abroad visit tourist touristy tour sightseeing holiday journey country attractions
luggage bag bags baggage suitcase carry
passport visa visas border international
vaccine vaccines shot shots vaccination immunization
rental rent hire suv
plug socket adapter converter outlet voltage
currency exchange dollar dollars euro euros yen pounds peso rupees conversion
translate translation language spanish french italian english german chinese say speak mean
timezone zone
time clock hour hours minute minutes
date day today month year
timer countdown
alarm wake wakeup
weather rain raining sunny forecast temperature cold hot snow umbrella degrees humidity wind
calculate calculator math plus minus times divided sum add multiply square root divide percent
convert conversion measurement inches feet meters pounds kilograms cups ounces liters centimeters tablespoons teaspoons kilometers grams
spell spelling spelled letters
define definition meaning word words
coin flip heads tails toss
dice roll die sided
random number pick between
phone cell mobile smartphone call dial ring cellphone
text message sms send texting
call phone dial contact
work job office employer company boss career workplace
pto vacation leave absence time-off off holiday days
pay payday salary paycheck wage wages paid income earn money
tax taxes w2 irs refund filing
insurance coverage policy covered health medical dental benefits plan
401k retirement pension rollover
meeting meetings conference schedule room book
holiday holidays christmas thanksgiving next
hello hi hey greetings greeting morning evening howdy doing going
goodbye bye later farewell see
thanks thank appreciate grateful
joke jokes funny laugh humor pun
fact facts trivia interesting tell
name called call named
who made created built designer creator maker programmed invented
old age birthday born
bot robot human person real ai computer machine artificial
from live born origin country birthplace
hobby hobbies fun like enjoy free
pet pets dog dogs cat cats animal puppy
life purpose meaning exist philosophy
ask help can able do capable topics knowledge
yes yeah yep sure true right correct affirmative okay
no nope nah false negative wrong not
maybe perhaps possibly unsure might dunno
cancel stop abort nevermind quit undo forget
repeat again say once
language speak spanish english talk switch
speed fast slow faster slower quicker quickly rate talk speak
volume loud louder quiet quieter sound mute up down noise
whisper soft quietly
accent voice british male female
reset restore factory original default settings setting
sync connect pair bluetooth link synchronize disconnect
username nickname name call
computer laptop desktop pc notebook keyboard mouse monitor screen macbook
printer print printing scanner paper toner ink copier jam cartridge
wifi internet network connection router online wireless vpn ethernet signal
password login log-in sign signin username credentials locked 2fa authenticator reset
email mail inbox outlook mailbox spam attachment
software app program application install update version license crash
file files folder drive document share backup storage
refund return money-back exchange returned
subscription plan upgrade downgrade trial cancel membership
price cost fee discount coupon quote expensive cheap
shipping delivery courier parcel
complaint complain unhappy angry manager feedback
contract legal agreement lawyer terms privacy gdpr
hire hiring recruit interview candidate applicant job onboarding
sick ill doctor hospital medicine nurse health prescription pharmacy appointment
school class course teacher student homework exam grade
house apartment lease landlord tenant plumbing leak heating repair maintenance
door key lock badge access building
security breach virus malware phishing
order purchase checkout cart buy
warranty guarantee repair broken defective
clothes shirt shoes size dress color
`

// akin maps a stem to the groups that it stands in.
var akin = func() map[string][]int {
	groups := make(map[string][]int)
	for i, line := range strings.Split(strings.TrimSpace(kin), "\n") {
		for _, term := range terms(line) {
			groups[term] = append(groups[term], i)
		}
	}
	return groups
}()
